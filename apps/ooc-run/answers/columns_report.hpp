#pragma once

#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>
#include <span>
#include <string>

#include "result/json.hpp"

namespace ooc_run {

/// Returns the result as JSON: the object of reduce for each column.
Json describe_columns(std::span<const ooc::Statistics> columns, const ooc::ReduceOptions& options);

/// Returns the result as text, a line for each column, up to a hundred of them.
std::string table(std::span<const ooc::Statistics> columns, ooc::ElementType type);

/// Returns the result as a table with tabs.
Document tsv(std::span<const ooc::Statistics> columns);

/// Returns a sentence that says why statistics are NaN; empty if none are.
std::string why_nan(std::span<const ooc::Statistics> columns, const ooc::ReduceOptions& options);

}  // namespace ooc_run
