#pragma once

#include "cli/interrupt.hpp"
#include "request/request.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Computes the statistics of each column, for reduce --axis 0.
Outcome run_by_column(const ReduceRequest& request, const Interrupt& interrupt);

/// Writes a result for each row, for reduce --axis 1.
Outcome run_by_row(const ReduceRequest& request, const Interrupt& interrupt);

}  // namespace ooc_run
