#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "draw/axis.hpp"

namespace ooc_run {

/// A plot in an HTML page that adapts to the width of the page. The drawing is stretched; labels
/// are HTML text, which is not. Positions are coordinates from 0 to 1, from the left and the
/// bottom.
class PageChart {
 public:
  /// Size of the drawing in SVG units. y grows downwards.
  static constexpr double width = 1000, height = 1000;

  /// `pixels`: height on the page. `label`: text for screen readers. `css_class`: an additional
  /// class of the chart, or empty.
  PageChart(double pixels, std::string_view label, std::string_view css_class = {});

  static double x(double position) { return position * width; }
  static double y(double position) { return height - position * height; }

  /// Add a label and a grid line.
  void tick_below(double position, std::string_view label);
  void tick_beside(double position, std::string_view label);

  /// Add a name to the left of a row, and further left the name of a group of rows.
  void name_beside(double position, std::string_view name);
  void group_beside(double position, std::string_view name);

  /// Adds SVG elements to the drawing, as they are.
  void add(std::string_view element) { body_ += element; }

  /// Add titles of the axes.
  void title_below(std::string_view title);
  void title_beside(std::string_view title);

  std::string html() const;

 private:
  void label_beside(std::string_view css_class, double position, std::string_view text);

  double pixels_;
  std::string label_, css_class_;
  std::string grid_, body_, labels_;
};

/// Returns `ticks_of(intervals)` for the largest number of intervals, up to `most_intervals`, whose
/// labels fit on a narrow page.
template <class TicksOf>
std::vector<Tick> ticks_that_fit(int most_intervals, TicksOf&& ticks_of) {
  constexpr std::size_t most_characters = 34;
  constexpr std::size_t gap = 3;
  for (int intervals = most_intervals; intervals > 1; --intervals) {
    const std::vector<Tick> ticks = ticks_of(intervals);
    std::size_t characters = 0;
    for (const Tick& tick : ticks) characters += tick.label.size() + gap;
    if (characters <= most_characters) return ticks;
  }
  return ticks_of(1);
}

}  // namespace ooc_run
