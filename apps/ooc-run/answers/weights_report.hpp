#pragma once

#include <ooc/weighted_histogram.hpp>
#include <string>

#include "result/outcome.hpp"
#include "result/report.hpp"

namespace ooc_run {

/// Returns a histogram with weights as JSON: that of its values, and the sums.
Json describe_weighted(const ooc::WeightedHistogram& found, const ooc::HistogramOptions& options);

/// Returns a warning that says why sums are NaN or infinite. Empty if none is.
std::string why_not_finite(const ooc::WeightedHistogram& found);

/// Replaces the document of an outcome by a table of the bins: lower and upper edge, count, sum.
/// See the function of that name for counts alone.
void print_as_table(ooc::WeightedHistogram found, Outcome& outcome);

}  // namespace ooc_run
