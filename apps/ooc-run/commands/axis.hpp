#pragma once

#include <cstdint>
#include <ooc/source.hpp>
#include <optional>

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Computes the statistics of each column, for reduce --axis 0.
Outcome run_by_column(const ReduceRequest& request, const Interrupt& interrupt);

/// Writes a result for each row, for reduce --axis 1.
Outcome run_by_row(const ReduceRequest& request, const Interrupt& interrupt);

/// Makes the elements of a source rows of `wanted` columns, if that is given and the data have no
/// shape. Returns the number of columns. Throws Error(usage) if raw data have none, or if the shape
/// has another one; `bad_input` for rows of different lengths.
std::uint64_t set_columns(ooc::Source& source, const std::optional<std::uint64_t>& wanted);

}  // namespace ooc_run
