#pragma once

#include <ooc/kernels/histogram.hpp>
#include <string>

namespace ooc_run {

/// What a picture of a histogram shows besides its counts.
struct HistogramPlot {
  std::string title;
  bool logarithmic_counts = false;
  bool logarithmic_values = false;  // all edges are positive
};

/// An SVG document: bars, or where they would be too narrow one line of steps. Each has its range
/// and count as a tooltip. The same histogram makes the same bytes.
std::string plot_histogram(const ooc::Histogram& histogram, const HistogramPlot& plot);

/// The same for an HTML page, without the title.
std::string histogram_figure(const ooc::Histogram& histogram, const HistogramPlot& plot);

}  // namespace ooc_run
