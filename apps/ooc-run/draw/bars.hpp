#pragma once

#include <ooc/histogram.hpp>
#include <string>

#include "cli/terminal.hpp"

namespace ooc_run {

/// Draws a histogram as text, in at most 24 rows, and fewer on a low terminal. If there are more
/// bins, neighbours share a row. A row has its lower edge as label, a bar, its count and its
/// percentage of all elements. The axis of the bars is below the rows. `own_edges`: see BarHeights.
std::string draw_histogram(const ooc::Histogram& histogram, const Terminal& terminal,
                           bool logarithmic_bars, bool own_edges = false);

/// Returns the number of bins per row for the heading: ", each row sums 16 bins". Empty if there is
/// one bin per row. Also tells if bars show densities instead of counts.
std::string describe_rows(const ooc::Histogram& histogram, const Terminal& terminal,
                          bool own_edges = false);

}  // namespace ooc_run
