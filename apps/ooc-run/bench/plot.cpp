#include "bench/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ooc/detail/base/units.hpp>

#include "draw/axis.hpp"
#include "draw/svg.hpp"
#include "measure/figures.hpp"

namespace ooc_run {
namespace {

constexpr double chart_width = 300, chart_height = 190;  // pixels, without axes and titles
constexpr double left = 70, top = 50;                    // margins for the axis and the titles
constexpr double heading_height = 56;                    // heading of a row of charts
constexpr double column_width = chart_width + 60, row_height = heading_height + chart_height + 62;
constexpr double gb = 1e9;
constexpr int ticks_up = 4;

constexpr std::string_view style =
    ".ceiling { stroke: #555; stroke-dasharray: 6 4 }\n"
    ".cold { stroke: #1f5fa8 } circle.cold { fill: #1f5fa8 }\n"
    ".warm { stroke: #c4451c } circle.warm { fill: #c4451c }\n"
    ".heading { font-size: 13px; font-weight: bold }\n"
    ".cold-text { fill: #1f5fa8 } .warm-text { fill: #c4451c }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .ceiling { stroke: #9aa5b1 }\n"
    "  .cold { stroke: #4f9fdc } circle.cold { fill: #4f9fdc } .cold-text { fill: #4f9fdc }\n"
    "  .warm { stroke: #f08a45 } circle.warm { fill: #f08a45 } .warm-text { fill: #f08a45 }\n"
    "}\n";

struct Point {
  double bytes;  // the setting
  ooc::detail::measure::Spread rate;
};

struct SmallChart {
  std::string_view what;
  std::string_view title;
  bool cold;
};

std::string size_name(double bytes) {
  if (bytes < static_cast<double>(ooc::detail::MiB))
    return fmt::format("{:.0f}K", bytes / ooc::detail::KiB);
  if (bytes < static_cast<double>(ooc::detail::GiB))
    return fmt::format("{:.0f}M", bytes / ooc::detail::MiB);
  return fmt::format("{:.3g}G", bytes / ooc::detail::GiB);
}

std::vector<Point> points_of(const BenchResult& result, const SmallChart& chart) {
  std::vector<Point> points;
  for (const SweepRow& row : result.sweep) {
    if (row.what != chart.what || row.cold != chart.cold) continue;
    points.push_back({static_cast<double>(row.setting_bytes),
                      ooc::detail::measure::spread_of(row.bytes_per_second)});
  }
  return points;
}

/// Returns the rate of the slowest stage: source, link or kernel. 0 if the source was not measured.
double ceiling_of(const BenchResult& result, bool cold) {
  const double source = (cold ? result.disk : result.page_cache).bytes_per_second();
  const double link = result.h2d.bytes_per_second();
  const double behind =
      std::min(link == 0 ? HUGE_VAL : link,
               result.kernel(ooc::detail::KernelKind::histogram_u1).bytes_per_second());
  return std::min(source, behind);
}

/// Maps a chart's values to coordinates of the picture.
struct Axes {
  Frame frame;
  double first, last;  // bytes, on a logarithmic scale
  double most;         // bytes per second; the axis starts at 0

  double x(double bytes) const {
    const double range = std::log2(last / first);
    return frame.x(range > 0 ? std::log2(bytes / first) / range : 0.5);
  }
  double y(double rate) const { return frame.y(rate / most); }
};

void draw_axes(Svg& svg, const Axes& axes, const std::vector<Point>& points,
               const SmallChart& chart) {
  const Frame& frame = axes.frame;
  frame.draw_axes(svg);
  for (int i = 0; i <= ticks_up; ++i) {
    const double part = static_cast<double>(i) / ticks_up;
    frame.draw_tick_beside(svg, part, fmt::format("{:.3g}", axes.most * part / gb));
  }
  constexpr double label_width = 34;
  const double end = axes.x(axes.last);
  double labelled = -HUGE_VAL;  // x of the last label
  for (const Point& point : points) {
    const double x = axes.x(point.bytes);
    const bool free = x - labelled >= label_width && end - x >= label_width;
    const bool has_label = free || x == end;  // the last tick always has a label
    frame.draw_tick_below(svg, (x - frame.left) / frame.width,
                          has_label ? size_name(point.bytes) : "");
    if (has_label) labelled = x;
  }
  frame.draw_title_below(svg, fmt::format("{} (bytes)", chart.title));
  frame.draw_title_beside(svg, "GB/s");
}

/// Draws the medians as a line, with a bar from minimum to maximum at each.
void draw_series(Svg& svg, const Axes& axes, const std::vector<Point>& points,
                 std::string_view css_class) {
  std::string path;
  for (const Point& point : points) {
    const double x = axes.x(point.bytes);
    svg.line(x, axes.y(point.rate.min), x, axes.y(point.rate.max), css_class);
    svg.circle(x, axes.y(point.rate.median), 3, css_class);
    path += fmt::format("{:.1f},{:.1f} ", x, axes.y(point.rate.median));
  }
  svg.add(fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", path, css_class));
}

/// Draws the medians of one parameter with bars from minimum to maximum, in a frame whose lower
/// left corner is at (x0, y0). Draws nothing if it was not measured: a sweep may have no cold
/// passes.
void draw_chart(Svg& svg, const BenchResult& result, const SmallChart& chart, double x0,
                double y0) {
  const std::vector<Point> points = points_of(result, chart);
  if (points.empty()) return;
  const double ceiling = ceiling_of(result, chart.cold);
  double most = ceiling;
  for (const Point& point : points) most = std::max(most, point.rate.max);
  const Axes axes{{x0, y0, chart_width, chart_height},
                  points.front().bytes,
                  points.back().bytes,
                  ticks_up * round_step(most / ticks_up)};
  draw_axes(svg, axes, points, chart);
  if (ceiling > 0) {
    const double y = axes.y(ceiling), end = x0 + chart_width;
    svg.line(x0, y, end, y, "ceiling");
    // The label is above the frame, where no line of the data crosses it.
    constexpr double sample = 24, label_width = 140;
    const double label_y = axes.frame.y(1) - 12;
    svg.line(end - label_width - sample, label_y - 4, end - label_width, label_y - 4, "ceiling");
    svg.text(end - label_width + 6, label_y, "start",
             fmt::format("measured ceiling {:.3g}", ceiling / gb));
  }
  draw_series(svg, axes, points, chart.cold ? "cold" : "warm");
}

}  // namespace

std::string plot_sweep(const BenchResult& result, const std::string& title) {
  constexpr std::array<std::array<std::string_view, 2>, 3> kinds{
      {{"chunk", "chunk"}, {"in_flight", "in flight"}, {"file", "file"}}};
  std::vector<bool> states;  // true: cold, false: warm; each is a row of charts
  for (const bool cold : {true, false}) {
    const auto is_of = [cold](const SweepRow& row) { return row.cold == cold; };
    if (std::ranges::any_of(result.sweep, is_of)) states.push_back(cold);
  }
  Svg svg(left + kinds.size() * column_width,
          top + static_cast<double>(states.size()) * row_height + 10, style);
  svg.text(left, 26, "start", title, "title");
  for (std::size_t row = 0; row < states.size(); ++row) {
    const bool cold = states[row];
    const double y = top + static_cast<double>(row) * row_height;
    svg.text(left, y + 14, "start", cold ? "Cold: from the disk" : "Warm: from the page cache",
             cold ? "heading cold-text" : "heading warm-text");
    svg.line(left, y + 22, left + kinds.size() * column_width - 60, y + 22, "grid");
    for (std::size_t column = 0; column < kinds.size(); ++column) {
      draw_chart(svg, result, {kinds[column][0], kinds[column][1], cold},
                 left + static_cast<double>(column) * column_width,
                 y + heading_height + chart_height);
    }
  }
  return svg.document();
}

}  // namespace ooc_run
