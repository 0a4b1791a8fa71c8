#pragma once

#include <span>
#include <string>

namespace ooc_run {

/// A quantile: of all values, the fraction `q` is at most about `value`.
struct DistributionPoint {
  double value, q;
};

/// The contents of a picture of a distribution.
struct DistributionPlot {
  std::string title;
  std::string value_title = "value";           // of the axis of values
  std::span<const DistributionPoint> curve{};  // finite, with rising q; at least one
  std::span<const DistributionPoint> marked{};
};

/// Draws an SVG document with the fraction of values up to each value, as steps, and marks with
/// tooltips. The output is deterministic.
std::string plot_distribution(const DistributionPlot& plot);

}  // namespace ooc_run
