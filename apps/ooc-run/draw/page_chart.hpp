#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "draw/axis.hpp"

namespace ooc_run {

/// A plot in an HTML page, which takes the width that there is: what is drawn is stretched, and
/// labels are text of the page, which is not. Places go from 0 to 1, from the left and from the
/// bottom.
class PageChart {
 public:
  /// Of what is drawn: places times these are lengths in it. y grows downwards.
  static constexpr double width = 1000, height = 1000;

  /// `pixels`: how high it is. `label`: what it shows, for those who cannot see it. `css_class`: of
  /// a chart that is not like others.
  PageChart(double pixels, std::string_view label, std::string_view css_class = {});

  static double x(double place) { return place * width; }
  static double y(double place) { return height - place * height; }

  void tick_below(double place, std::string_view label);

  /// With a line across.
  void tick_beside(double place, std::string_view label);

  /// Names for what lies at a height: of one thing, and further left of a group of them.
  void name_beside(double place, std::string_view name);
  void group_beside(double place, std::string_view name);

  /// A piece of SVG as it is. Strokes are not stretched.
  void add(std::string_view element) { body_ += element; }

  /// What the axes show, if that is not plain.
  void title_below(std::string_view title);
  void title_beside(std::string_view title);

  std::string html() const;

 private:
  void label_beside(std::string_view css_class, double place, std::string_view text);

  double pixels_;
  std::string label_, css_class_;
  std::string grid_, body_, labels_;
};

/// As many intervals as leave room for the labels of all `ticks_of(intervals)` where a page is
/// narrow.
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
