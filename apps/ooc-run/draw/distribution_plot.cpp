#include "draw/distribution_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "cli/sizes.hpp"
#include "draw/axis.hpp"
#include "draw/svg.hpp"
#include "result/report.hpp"

namespace ooc_run {
namespace {

/// The places of the parts of a picture (pixels).
struct DistributionLayout {
  static constexpr double width = 900, left = 80, right = 25;
  static constexpr double frame_height = 320;
  static constexpr double title = 28, note = 18;               // heights of lines
  static constexpr double above_frame = 20, below_frame = 52;  // for labels and titles of the axes
};

constexpr std::string_view distribution_style =
    ".curve { fill: none; stroke: #1f5fa8; stroke-width: 2; stroke-linejoin: round }\n"
    ".mark { fill: #c4451c }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .curve { stroke: #4f9fdc } .mark { fill: #f08a45 }\n"
    "}\n";

/// Returns an axis from the first to the last value; around it, if all values are equal.
ValueAxis axis_over(std::span<const DistributionPoint> curve) {
  const double lower = curve.front().value, upper = curve.back().value;
  const double beside = lower == upper ? std::max(0.5, std::abs(lower) / 100) : 0;
  constexpr double most = std::numeric_limits<double>::max();
  return {std::max(lower - beside, -most), std::min(upper + beside, most), false};
}

/// Draws the curve as steps. What is between two points lies between both ends of a step.
std::string steps_of(std::span<const DistributionPoint> curve, const ValueAxis& values,
                     const Frame& frame) {
  std::string path =
      fmt::format("M{:.1f} {:.1f}", frame.x(values.position(curve.front().value)), frame.y(0));
  for (const auto& [value, q] : curve) {
    path += fmt::format("H{:.1f}V{:.1f}", frame.x(values.position(value)), frame.y(q));
  }
  return fmt::format("<path d=\"{}\" class=\"curve\"/>\n", path);
}

std::string mark_of(const DistributionPoint& point, const ValueAxis& values, const Frame& frame) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" class=\"mark\"><title>q {:g}: {}</title>"
      "</circle>\n",
      frame.x(values.position(point.value)), frame.y(point.q), point.q, format_real(point.value));
}

}  // namespace

std::string plot_distribution(const DistributionPlot& plot) {
  using At = DistributionLayout;
  const double bottom = At::title + At::note + At::above_frame + At::frame_height;
  const Frame frame{At::left, bottom, At::width - At::left - At::right, At::frame_height};
  Svg svg(At::width, bottom + At::below_frame, distribution_style);
  svg.text(At::left, At::title, "start", plot.title, "title");
  svg.text(At::left, At::title + At::note, "start",
           fmt::format("the fraction of values up to each, by {}; those of the answer are marked",
                       format_count(plot.curve.size(), "exact quantile")),
           "note");
  constexpr int most_along = 10, most_up = 10;
  const ValueAxis values = axis_over(plot.curve);
  for (const Tick& tick : round_ticks(0, 1, most_up)) {
    frame.draw_tick_beside(svg, tick.value, tick.label);
  }
  for (const Tick& tick : values.ticks(most_along)) {
    frame.draw_tick_below(svg, values.position(tick.value), tick.label);
  }
  frame.draw_title_beside(svg, "fraction");
  frame.draw_title_below(svg, plot.value_title);
  svg.add(steps_of(plot.curve, values, frame));
  for (const DistributionPoint& point : plot.marked) svg.add(mark_of(point, values, frame));
  frame.draw_axes(svg);
  return svg.document();
}

}  // namespace ooc_run
