#include "draw/heat_map.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "draw/axis.hpp"
#include "draw/cell_groups.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

// --- text ---------------------------------------------------------------------------------------

/// Colours of the palette of 256, from few pairs to many: those nearest to the scale `viridis`.
constexpr std::array terminal_colours{54, 60, 61,  25,  31,  30,  36, 35,
                                      71, 77, 113, 149, 185, 221, 227};

constexpr std::array<std::string_view, 4> unicode_shades{"░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 6> plain_shades{".", ":", "+", "*", "#", "@"};

/// Returns the number of a count's level, from 0 to `levels` - 1.
std::size_t level_of(std::uint64_t count, const CountAxis& scale, std::size_t levels) {
  const double position = scale.position(static_cast<double>(count));
  const auto level = static_cast<std::size_t>(position * static_cast<double>(levels));
  return std::min(level, levels - 1);
}

/// Returns the character of a field. It is two columns wide, which is nearly a square.
std::string field_of(std::uint64_t count, const CountAxis& scale, const Terminal& terminal) {
  if (count == 0) return "  ";
  if (terminal.colour) {
    const int colour = terminal_colours[level_of(count, scale, terminal_colours.size())];
    return fmt::format("\x1b[48;5;{}m  \x1b[0m", colour);
  }
  const std::string_view shade = terminal.unicode
                                     ? unicode_shades[level_of(count, scale, unicode_shades.size())]
                                     : plain_shades[level_of(count, scale, plain_shades.size())];
  return fmt::format("{}{}", shade, shade);
}

/// Returns the line below the fields: the ends of x.
std::string line_of_ends(std::string_view lower, std::string_view upper, std::size_t columns) {
  const std::size_t used = lower.size() + upper.size();
  return fmt::format("{}{:>{}}", lower, upper, used + 1 < columns ? columns - lower.size() : used);
}

}  // namespace

std::string draw_heat_map(const ooc::Histogram2d& histogram, const Terminal& terminal,
                          bool logarithmic) {
  constexpr std::size_t least = 8, most_rows = 32, others = 12;
  constexpr std::size_t most_label = 12;
  const std::size_t width = terminal.columns - std::min(terminal.columns, most_label + 4);
  const std::size_t height = terminal.rows - std::min(terminal.rows, others);
  const CellGroups groups =
      group_cells(histogram, std::max(width / 2, least), std::clamp(height, least, most_rows));
  const CountAxis scale(static_cast<double>(groups.most), logarithmic);
  const std::vector<std::string> labels = tick_labels(groups.y_edges);
  std::size_t label_columns = 0;
  for (const std::string& label : labels) label_columns = std::max(label_columns, label.size());

  const std::string_view rule = terminal.unicode ? "│" : "|";
  std::string text = lines_for_stdout(describe_cells(histogram, groups, logarithmic)) + "\n";
  for (std::size_t row = groups.rows(); row-- > 0;) {
    std::string fields;
    for (std::size_t column = 0; column < groups.columns(); ++column) {
      fields += field_of(groups.at(column, row), scale, terminal);
    }
    fields.resize(fields.find_last_not_of(' ') + 1);
    text += fmt::format("  {:>{}} {}{}\n", labels[row], label_columns, rule, fields);
  }
  const std::string indent(label_columns + 4, ' ');
  const std::vector<std::string> ends =
      tick_labels(std::array{groups.x_edges.front(), groups.x_edges.back()});
  text += indent + line_of_ends(ends.front(), ends.back(), 2 * groups.columns()) + "\n";
  text += fmt::format("\n  most in a field  {}\n", group_digits(std::to_string(groups.most)));
  const std::string outside = describe_outside(histogram);
  if (!outside.empty()) text += fmt::format("  in no cell       {}\n", outside);
  return text;
}

// --- SVG ----------------------------------------------------------------------------------------

namespace {

/// The places of the parts of a picture (pixels).
struct MapLayout {
  static constexpr double width = 900, left = 90;
  static constexpr double frame_width = 620, frame_height = 500;
  static constexpr double title = 28, note = 18;               // heights of lines
  static constexpr double above_frame = 20, below_frame = 52;  // for labels and titles of the axes
  static constexpr double scale_left = left + frame_width + 50, scale_width = 22;
};

/// Colours from few pairs to many. Their lightness rises evenly, so that they differ in grey, too.
constexpr std::array<std::string_view, 16> map_levels{
    "#440154", "#481a6c", "#472f7d", "#414487", "#39568c", "#31688e", "#2a788e", "#23888e",
    "#1f988b", "#22a884", "#35b779", "#54c568", "#7ad151", "#a5db36", "#d2e21b", "#fde725"};

std::string style_of_levels() {
  std::string style = ".cells rect { shape-rendering: crispEdges }\n";
  for (std::size_t i = 0; i < map_levels.size(); ++i) {
    style += fmt::format(".h{} {{ fill: {} }}\n", i, map_levels[i]);
  }
  return style;
}

/// Draws the fields. Neighbours of one level in a column are one rectangle.
std::string fields_of(const CellGroups& groups, const CountAxis& scale, const Frame& frame) {
  const ValueAxis x(groups.x_edges.front(), groups.x_edges.back(), false);
  const ValueAxis y(groups.y_edges.front(), groups.y_edges.back(), false);
  const auto level_at = [&](std::size_t column, std::size_t row) {
    const std::uint64_t count = groups.at(column, row);
    return count == 0 ? map_levels.size() : level_of(count, scale, map_levels.size());
  };
  std::string elements;
  for (std::size_t column = 0; column < groups.columns(); ++column) {
    const double begin = frame.x(x.position(groups.x_edges[column]));
    const double end = frame.x(x.position(groups.x_edges[column + 1]));
    for (std::size_t row = 0; row < groups.rows();) {
      const std::size_t level = level_at(column, row), first = row;
      while (row < groups.rows() && level_at(column, row) == level) ++row;
      if (level == map_levels.size()) continue;  // no pairs
      const double top = frame.y(y.position(groups.y_edges[row]));
      const double bottom = frame.y(y.position(groups.y_edges[first]));
      elements += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"h{}\"/>\n",
          begin, top, end - begin, bottom - top, level);
    }
  }
  return fmt::format("<g class=\"cells\">\n{}</g>\n", elements);
}

/// Draws the colours beside the frame, and their counts.
void draw_scale(Svg& svg, const CountAxis& scale, const Frame& frame) {
  constexpr int most_intervals = 8;
  const double height = frame.height / static_cast<double>(map_levels.size());
  for (std::size_t i = 0; i < map_levels.size(); ++i) {
    svg.add(
        fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
                    "class=\"h{}\"/>\n",
                    MapLayout::scale_left, frame.bottom - static_cast<double>(i + 1) * height,
                    MapLayout::scale_width, height, i));
  }
  for (const Tick& tick : scale.ticks(most_intervals)) {
    svg.text(MapLayout::scale_left + MapLayout::scale_width + 6,
             frame.y(scale.position(tick.value)) + 4, "start", tick.label);
  }
  svg.text(MapLayout::scale_left, frame.y(1) - 8, "start", "pairs");
}

}  // namespace

std::string plot_heat_map(const ooc::Histogram2d& histogram, const HeatMap& map) {
  constexpr std::size_t most_fields = 256;  // along an axis
  using At = MapLayout;
  const CellGroups groups = group_cells(histogram, most_fields, most_fields);
  const CountAxis scale(static_cast<double>(groups.most), map.logarithmic);
  std::vector<std::string> notes{describe_cells(histogram, groups, map.logarithmic)};
  const std::string outside = describe_outside(histogram);
  if (!outside.empty()) notes.push_back("not drawn: " + outside);
  const double bottom =
      At::title + static_cast<double>(notes.size()) * At::note + At::above_frame + At::frame_height;
  const Frame frame{At::left, bottom, At::frame_width, At::frame_height};
  Svg svg(At::width, bottom + At::below_frame, style_of_levels());
  svg.text(At::left, At::title, "start", map.title, "title");
  for (std::size_t i = 0; i < notes.size(); ++i) {
    svg.text(At::left, At::title + static_cast<double>(i + 1) * At::note, "start", notes[i],
             "note");
  }
  constexpr int most_intervals = 8;
  const ValueAxis x(groups.x_edges.front(), groups.x_edges.back(), false);
  const ValueAxis y(groups.y_edges.front(), groups.y_edges.back(), false);
  for (const Tick& tick : y.ticks(most_intervals)) {
    frame.draw_tick_beside(svg, y.position(tick.value), tick.label);
  }
  for (const Tick& tick : x.ticks(most_intervals)) {
    frame.draw_tick_below(svg, x.position(tick.value), tick.label);
  }
  frame.draw_title_beside(svg, map.y_title);
  frame.draw_title_below(svg, map.x_title);
  svg.add(fields_of(groups, scale, frame));
  if (groups.most != 0) draw_scale(svg, scale, frame);
  frame.draw_axes(svg);  // last, to be in front of the fields
  return svg.document();
}

}  // namespace ooc_run
