#pragma once

#include <ooc/top.hpp>
#include <string>

#include "result/document.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns the values found as JSON.
Json describe_top(const ooc::Top& found);

/// Returns lines of rank, value and index, after the number of values.
std::string table(const ooc::Top& found, ooc::ElementType type);

/// Returns the values as a table with tabs: value and index.
Document tsv(const ooc::Top& found);

/// Returns a warning if all values are NaN. Empty otherwise.
std::string why_none(const ooc::Top& found);

}  // namespace ooc_run
