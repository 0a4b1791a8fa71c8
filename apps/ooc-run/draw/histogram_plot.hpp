#pragma once

#include <ooc/histogram.hpp>
#include <ooc/weighted_histogram.hpp>
#include <string>

namespace ooc_run {

/// Titles and scales of a picture of a histogram.
struct HistogramPlot {
  std::string title;
  std::string value_title = "value";  // of the axis of values
  bool logarithmic_counts = false;
  bool logarithmic_values = false;  // requires positive edges
  bool own_edges = false;           // see BarHeights
};

/// Draws an SVG document with bars, or a step line if bars would be too narrow. Each bar or step
/// has a tooltip with its range and count. The output is deterministic.
std::string plot_histogram(const ooc::Histogram& histogram, const HistogramPlot& plot);

/// Draws the same picture for an HTML page, without the title.
std::string histogram_figure(const ooc::Histogram& histogram, const HistogramPlot& plot);

/// True if the bars of a picture can show the sums of weights: none is negative, or not finite.
bool can_plot_sums(const ooc::WeightedHistogram& histogram);

// The same pictures of such sums. The scale is linear.
std::string plot_sums(const ooc::WeightedHistogram& histogram, const HistogramPlot& plot);
std::string sums_figure(const ooc::WeightedHistogram& histogram, const HistogramPlot& plot);

}  // namespace ooc_run
