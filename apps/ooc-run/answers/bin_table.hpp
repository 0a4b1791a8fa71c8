#pragma once

#include <ooc/histogram.hpp>

#include "request/bins.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Replaces the document of an outcome by a table of the bins: a line of column names, and a line
/// for each bin, separated by tabs. A note gives the number of values in no bin. The lines are made
/// while they are printed.
void print_as_table(ooc::Histogram histogram, const BinTable& columns, Outcome& outcome);

}  // namespace ooc_run
