#include "draw/columns_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

/// The places of the parts of a picture (pixels).
struct StripLayout {
  static constexpr double width = 900, left = 25, strip = 24;
  static constexpr double title = 28, note = 18, heading = 34;     // heights of lines
  static constexpr double number = 70, begin = 180, end = 680;     // of a column, of its strip
  static constexpr double beside = 10, mean = width - left;        // of labels
  static constexpr double band_height = 10, below = 18, text = 4;  // to the base line of a text
};

constexpr std::string_view strip_style =
    ".range { stroke: #8a94a3; stroke-width: 1.5 }\n"
    ".band { fill: #7fb0e0 }\n"
    ".mean { stroke: #c4451c; stroke-width: 2.5 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .band { fill: #2f6ca8 } .mean { stroke: #f08a45 }\n"
    "}\n";

std::string short_number(double value) {
  return fmt::format("{:.6g}", value);
}

/// True if a column has a range, all of whose numbers are finite.
bool has_strip(const ooc::Statistics& column) {
  return column.min.has_value() && std::isfinite(column.min.value()) &&
         std::isfinite(column.max.value()) && std::isfinite(column.stddev.value_or(NAN));
}

/// Draws the range of a column, its mean and a standard deviation on both sides.
void draw_strip(Svg& svg, const ooc::Statistics& column, std::size_t index, double y) {
  using At = StripLayout;
  const double least = column.min.value(), most = column.max.value();
  const double mean = *column.mean, stddev = *column.stddev;
  const auto x = [&](double value) {
    // Halves, since the difference of both ends may overflow.
    const double place = least == most ? 0.5 : (value / 2 - least / 2) / (most / 2 - least / 2);
    return At::begin + std::clamp(place, 0.0, 1.0) * (At::end - At::begin);
  };
  const double from = x(mean - stddev), to = x(mean + stddev);
  svg.add(
      fmt::format("<g><title>column {}: mean {}, standard deviation {}, minimum {} in row {}, "
                  "maximum {} in row "
                  "{}</title>\n",
                  index, short_number(mean), short_number(stddev), short_number(least),
                  column.argmin.value_or(0), short_number(most), column.argmax.value_or(0)));
  svg.line(x(least), y, x(most), y, "range");
  svg.add(fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"band\"/>\n", from,
      y - At::band_height / 2, to - from, At::band_height));
  svg.line(x(mean), y - At::band_height / 2 - 2, x(mean), y + At::band_height / 2 + 2, "mean");
  svg.add("</g>\n");
  svg.text(At::begin - At::beside, y + At::text, "end", short_number(least));
  svg.text(At::end + At::beside, y + At::text, "start", short_number(most));
  svg.text(At::mean, y + At::text, "end", short_number(mean));
}

}  // namespace

std::string plot_columns(std::span<const ooc::Statistics> columns, const std::string& title) {
  using At = StripLayout;
  constexpr std::size_t most_strips = 100;
  const std::span<const ooc::Statistics> drawn =
      columns.first(std::min(columns.size(), most_strips));
  std::vector<std::string> notes{
      fmt::format("{} of {}: the range of each on a scale of its own, the mean, and a standard "
                  "deviation on both sides",
                  format_count(columns.size(), "column"),
                  format_count(columns.empty() ? 0 : columns.front().count, "row"))};
  if (columns.size() > drawn.size()) {
    notes.push_back("not drawn: " + format_count(columns.size() - drawn.size(), "column") +
                    " behind them");
  }
  const double top = At::title + static_cast<double>(notes.size()) * At::note + At::heading;
  Svg svg(At::width, top + static_cast<double>(drawn.size()) * At::strip + At::below, strip_style);
  svg.text(At::left, At::title, "start", title, "title");
  for (std::size_t i = 0; i < notes.size(); ++i) {
    svg.text(At::left, At::title + static_cast<double>(i + 1) * At::note, "start", notes[i],
             "note");
  }
  const double heading = top - At::beside;
  svg.text(At::number, heading, "end", "column", "note");
  svg.text(At::begin - At::beside, heading, "end", "minimum", "note");
  svg.text(At::end + At::beside, heading, "start", "maximum", "note");
  svg.text(At::mean, heading, "end", "mean", "note");
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double y = top + (static_cast<double>(i) + 0.5) * At::strip;
    svg.text(At::number, y + At::text, "end", std::to_string(i));
    if (has_strip(drawn[i])) {
      draw_strip(svg, drawn[i], i, y);
    } else {
      svg.text(At::begin, y + At::text, "start", "no range of finite numbers", "note");
    }
  }
  return svg.document();
}

}  // namespace ooc_run
