#pragma once

#include <ooc/histogram.hpp>
#include <ooc/weighted_histogram.hpp>
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

/// Draws the sums of a histogram with weights in the same way, with shares of the sum of all
/// weights. Sums that are negative or not finite, and all beside them, have no bars.
std::string draw_sums(const ooc::WeightedHistogram& histogram, const Terminal& terminal);

/// Returns ", each row sums 16 bins" as describe_rows() does, and the reason if there are no bars.
std::string describe_sum_rows(const ooc::WeightedHistogram& histogram, const Terminal& terminal);

}  // namespace ooc_run
