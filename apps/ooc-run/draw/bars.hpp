#pragma once

#include <ooc/kernels/histogram.hpp>
#include <string>

#include "cli/terminal.hpp"

namespace ooc_run {

/// Draws a histogram with bars, in at most 24 rows, and no more than a terminal shows at once:
/// neighbouring bins share one. A row is labelled with the place where it begins and ends with its
/// count and its share of all elements. Below them is the axis of the bars.
std::string draw_histogram(const ooc::Histogram& histogram, const Terminal& terminal,
                           bool logarithmic_bars);

/// ", 16 to a row": how many bins share one, for the heading. Empty if each has its own.
std::string describe_rows(const ooc::Histogram& histogram, const Terminal& terminal);

}  // namespace ooc_run
