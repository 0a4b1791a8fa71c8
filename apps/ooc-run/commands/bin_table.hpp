#pragma once

#include <ooc/histogram.hpp>

#include "request/bins.hpp"
#include "result/outcome.hpp"

namespace ooc_run {

/// Replaces the document of an outcome by a table of the bins: a line of names, and one of each
/// bin, with tabs between them. A note counts values in no bin. The numbers of the table are made
/// while it is printed.
void print_as_table(ooc::Histogram histogram, const BinTable& columns, Outcome& outcome);

}  // namespace ooc_run
