#include "bench_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ooc/io/units.hpp>

#include "../measure/figures.hpp"

namespace ooc_run {
namespace {

constexpr double panel_width = 300, panel_height = 190;  // pixels, without what is around it
constexpr double left = 70, top = 60;                    // room for the axis and for the titles
constexpr double column_width = panel_width + 60, row_height = panel_height + 85;
constexpr double gb = 1e9;
constexpr int ticks_up = 4;

struct Point {
  double bytes;  // of the setting
  ooc::measure::Spread rate;
};

struct Panel {
  std::string_view what;
  std::string_view title;
  bool cold;
};

std::string text_at(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, style);
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
  }
  return safe;
}

std::string size_name(double bytes) {
  if (bytes < static_cast<double>(ooc::MiB)) return fmt::format("{:.0f}K", bytes / ooc::KiB);
  if (bytes < static_cast<double>(ooc::GiB)) return fmt::format("{:.0f}M", bytes / ooc::MiB);
  return fmt::format("{:.3g}G", bytes / ooc::GiB);
}

/// The least of 1, 2, 2.5, 5, 10, ... times ticks_up that is not below `most`: round ticks.
double axis_end(double most) {
  const double step = most / ticks_up;
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= step) return factor * power * ticks_up;
  }
  return 10 * power * ticks_up;
}

std::vector<Point> points_of(const BenchResult& result, const Panel& panel) {
  std::vector<Point> points;
  for (const SweepRow& row : result.sweep) {
    if (row.what != panel.what || row.cold != panel.cold) continue;
    points.push_back(
        {static_cast<double>(row.setting_bytes), ooc::measure::spread_of(row.bytes_per_second)});
  }
  return points;
}

/// What no setting can be faster than: the slower of the source and the link. 0 if not measured.
double ceiling_of(const BenchResult& result, bool cold) {
  const double source = (cold ? result.disk : result.page_cache).bytes_per_second();
  const double link = result.h2d.bytes_per_second();
  const double behind =
      std::min(link == 0 ? HUGE_VAL : link, result.histogram_u1.bytes_per_second());
  return std::min(source, behind);
}

/// Where a panel's values lie in the picture.
struct Axes {
  double x0, y0;       // the lower left corner
  double first, last;  // bytes, on a logarithmic scale
  double most;         // bytes per second, from 0

  double x(double bytes) const {
    const double range = std::log2(last / first);
    return x0 + (range > 0 ? std::log2(bytes / first) / range : 0.5) * panel_width;
  }
  double y(double rate) const { return y0 - rate / most * panel_height; }
};

std::string draw_axes(const Axes& axes, const std::vector<Point>& points, const Panel& panel) {
  std::string svg = line(axes.x0, axes.y0, axes.x0 + panel_width, axes.y0, "axis") +
                    line(axes.x0, axes.y0, axes.x0, axes.y0 - panel_height, "axis");
  for (int i = 0; i <= ticks_up; ++i) {
    const double rate = axes.most * i / ticks_up;
    svg += line(axes.x0, axes.y(rate), axes.x0 + panel_width, axes.y(rate), "grid");
    svg += text_at(axes.x0 - 6, axes.y(rate) + 4, "end", fmt::format("{:.3g}", rate / gb));
  }
  constexpr double label_width = 34;
  const double end = axes.x(axes.last);
  double labelled = -HUGE_VAL;  // so far
  for (const Point& point : points) {
    const double x = axes.x(point.bytes);
    svg += line(x, axes.y0, x, axes.y0 + 4, "axis");
    const bool free = x - labelled >= label_width && end - x >= label_width;
    if (!free && x != end) continue;  // the end has a label in any case
    svg += text_at(x, axes.y0 + 17, "middle", size_name(point.bytes));
    labelled = x;
  }
  svg += text_at(axes.x0 + panel_width / 2, axes.y0 + 34, "middle",
                 fmt::format("{} (bytes)", panel.title));
  return svg + text_at(axes.x0 - 6, axes.y0 - panel_height - 12, "end", "GB/s");
}

/// The medians as a line, minimum and maximum as a bar at each.
std::string draw_series(const Axes& axes, const std::vector<Point>& points,
                        std::string_view style) {
  std::string svg, path;
  for (const Point& point : points) {
    const double x = axes.x(point.bytes);
    svg += line(x, axes.y(point.rate.min), x, axes.y(point.rate.max), style);
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" class=\"{}\"/>\n", x,
                       axes.y(point.rate.median), style);
    path += fmt::format("{:.1f},{:.1f} ", x, axes.y(point.rate.median));
  }
  return svg + fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", path, style);
}

std::string draw_panel(const BenchResult& result, const Panel& panel, double x0, double y0) {
  const std::vector<Point> points = points_of(result, panel);
  if (points.empty()) return {};
  const double ceiling = ceiling_of(result, panel.cold);
  double most = ceiling;
  for (const Point& point : points) most = std::max(most, point.rate.max);
  const Axes axes{x0, y0, points.front().bytes, points.back().bytes, axis_end(most)};
  std::string svg = draw_axes(axes, points, panel);
  if (ceiling > 0) {
    const double y = axes.y(ceiling);
    svg += line(x0, y, x0 + panel_width, y, "ceiling");
    svg += text_at(x0 + panel_width, y - 4, "end", fmt::format("ceiling {:.3g}", ceiling / gb));
  }
  return svg + draw_series(axes, points, panel.cold ? "cold" : "warm");
}

}  // namespace

std::string plot_sweep(const BenchResult& result, const std::string& title) {
  constexpr std::array<std::array<std::string_view, 2>, 3> kinds{
      {{"chunk", "chunk"}, {"in_flight", "in flight"}, {"file", "file"}}};
  std::string panels;
  double row = 0;
  for (const bool cold : {true, false}) {
    std::string drawn;
    for (std::size_t column = 0; column < kinds.size(); ++column) {
      drawn += draw_panel(result, {kinds[column][0], kinds[column][1], cold},
                          left + static_cast<double>(column) * column_width,
                          top + row * row_height + panel_height + 20);
    }
    if (drawn.empty()) continue;
    panels += fmt::format("<g class=\"{}\">", cold ? "cold-text" : "warm-text") +
              text_at(left + panel_width / 2, top + row * row_height + 2, "middle",
                      cold ? "cold: from the disk" : "warm: from the page cache") +
              "</g>\n" + drawn;
    ++row;
  }
  const double width = left + kinds.size() * column_width, height = top + row * row_height + 10;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
             "<style>\n"
             "text {{ font: 12px sans-serif; fill: #222 }} .title {{ font-size: 15px }}\n"
             "line, polyline {{ fill: none; stroke-width: 1.5 }}\n"
             ".axis {{ stroke: #222; stroke-width: 1 }} .grid {{ stroke: #ddd; stroke-width: 1 }}\n"
             ".ceiling {{ stroke: #555; stroke-dasharray: 6 4 }}\n"
             ".cold {{ stroke: #1f5fa8 }} circle.cold {{ fill: #1f5fa8 }}\n"
             ".warm {{ stroke: #c4451c }} circle.warm {{ fill: #c4451c }}\n"
             ".cold-text text {{ fill: #1f5fa8; font-weight: bold }}\n"
             ".warm-text text {{ fill: #c4451c; font-weight: bold }}\n"
             "</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
             "<text x=\"{2:.0f}\" y=\"26\" class=\"title\">{3}</text>\n",
             width, height, left, escaped(title)) +
         panels + "</svg>\n";
}

}  // namespace ooc_run
