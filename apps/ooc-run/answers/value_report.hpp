#pragma once

#include <ooc/distinct.hpp>
#include <ooc/top.hpp>
#include <string>

#include "result/document.hpp"
#include "result/report.hpp"

namespace ooc_run {

// The reports of commands that find values of the data, with a number for each.

/// Returns the values found as JSON.
Json describe_top(const ooc::Top& found);

/// Returns the number of distinct values, or its estimate, and the counts as JSON.
Json describe_distinct(const ooc::Distinct& found, const ooc::DistinctOptions& options);

/// Returns lines of rank, value and index, after the number of values.
std::string table(const ooc::Top& found, ooc::ElementType type);

/// Returns lines of rank, value and count, after the number of distinct values.
std::string table(const ooc::Distinct& found, ooc::ElementType type);

/// Returns the values as a table with tabs: value and index.
Document tsv(const ooc::Top& found);

/// Returns the values as a table with tabs: value and count.
Document tsv(const ooc::Distinct& found);

/// Returns a warning if all values are NaN. Empty otherwise.
std::string why_none(const ooc::Top& found);

}  // namespace ooc_run
