#include "draw/histogram_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/axis.hpp"
#include "draw/bin_groups.hpp"
#include "draw/edge_labels.hpp"
#include "draw/page_chart.hpp"
#include "draw/svg.hpp"

namespace ooc_run {
namespace {

constexpr double picture_width = 900, frame_height = 320;  // pixels
constexpr double left = 80, right = 25, title_height = 28, note_height = 18;
constexpr double above_frame = 34, below_frame = 52;  // space for labels and titles of the axes
constexpr double frame_width = picture_width - left - right;
constexpr std::size_t most_groups = 800;  // about a pixel each
constexpr std::size_t most_bars = 128;

constexpr std::string_view style =
    ".bar, .steps { fill: #1f5fa8 } .bar { stroke: white; stroke-width: 0.5 }\n"
    ".small { stroke: none }\n"
    ".tips { fill: #c4451c; fill-opacity: 0 } .tips path:hover { fill-opacity: 0.3 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .bar, .steps { fill: #4f9fdc } .bar { stroke: #14181d } .small { stroke: none }\n"
    "  .tips { fill: #f08a45 }\n"
    "}\n";

/// Shortens a title that is too long by leaving out its middle: sentences differ at their
/// beginning, and paths at their end.
std::string shortened(const std::string& title) {
  constexpr std::size_t most = 96;  // characters; nearly all titles fit
  if (columns_of(title) <= most) return title;
  std::string text;
  const std::size_t left_out = columns_of(title) - most + 1;
  std::size_t characters = 0;
  for (const char byte : title) {
    characters += begins_character(byte);
    if (characters <= most / 2 || characters > most / 2 + left_out) {
      text += byte;
    } else if (begins_character(byte) && characters == most / 2 + 1) {
      text += "…";
    }
  }
  return text;
}

/// Returns labels for the edges of all groups.
std::vector<std::string> labels_of(const std::vector<BinGroup>& groups) {
  std::vector<double> edges;
  for (const BinGroup& group : groups) edges.push_back(group.lower);
  if (!groups.empty()) edges.push_back(groups.back().upper);
  return edge_labels(edges);
}

/// Returns the lines of text above the picture. `edges`: labels of the edges.
std::vector<std::string> describe(const ooc::Histogram& histogram,
                                  const std::vector<std::string>& edges, std::size_t each,
                                  const BarHeights& heights, bool logarithmic_counts) {
  if (histogram.edges.empty()) return {"no values"};
  std::vector<std::string> lines{fmt::format(
      "{} from {} to {}{}{}{}", format_count(histogram.counts.size(), "bin"), edges.front(),
      edges.back(), describe_groups(histogram.counts.size(), each, "bar"), heights.remark(),
      logarithmic_counts ? ", log scale" : "")};
  const std::string others = describe_outside(histogram);
  if (!others.empty()) lines.push_back("not drawn: " + others);
  return lines;
}

/// The coordinate system of a histogram's bars.
struct Axes {
  Frame frame;
  ValueAxis values;
  CountAxis counts;
  BarHeights heights;
  double pixel = 1;  // height of a pixel, in units of the picture

  double x(double value) const { return frame.x(values.position(value)); }

  /// Returns the top of a bar. A count above 0 is at least a pixel high.
  double y(const BinGroup& group) const {
    const double y = frame.y(counts.position(heights.of(group)));
    return group.count == 0 ? frame.bottom : std::min(y, frame.bottom - pixel);
  }
};

constexpr int most_along = 10;  // intervals of the axis of values

int most_up(const HistogramPlot& plot) {
  return plot.logarithmic_counts ? 10 : 6;  // one per decade
}

Axes axes_of(const ooc::Histogram& histogram, const std::vector<BinGroup>& groups,
             const HistogramPlot& plot, const Frame& frame) {
  const bool empty = histogram.edges.empty();
  const BarHeights heights(groups, plot.own_edges);
  return {frame,
          {empty ? 0 : histogram.edges.front(), empty ? 1 : histogram.edges.back(),
           plot.logarithmic_values},
          CountAxis::up_to(heights.highest(), plot.logarithmic_counts, most_up(plot)),
          heights};
}

void draw_ticks(Svg& svg, const Axes& axes, const HistogramPlot& plot) {
  for (const Tick& tick : axes.counts.ticks(most_up(plot))) {
    axes.frame.draw_tick_beside(svg, axes.counts.position(tick.value), tick.label);
  }
  for (const Tick& tick : axes.values.ticks(most_along)) {
    axes.frame.draw_tick_below(svg, axes.values.position(tick.value), tick.label);
  }
  axes.frame.draw_title_beside(svg, axes.heights.name());
  axes.frame.draw_title_below(svg, shortened(plot.value_title));
}

/// Returns the width of a bar, at least 1: the edges of a bin may be equal.
double width_of(const Axes& axes, const BinGroup& group) {
  constexpr double least = 1;
  return std::max(least, axes.x(group.upper) - axes.x(group.lower));
}

std::string bars(const Axes& axes, const std::vector<BinGroup>& groups) {
  constexpr double least_outlined = 3;  // an outline would hide smaller bars
  std::string elements;
  for (const BinGroup& group : groups) {
    const double x = axes.x(group.lower), y = axes.y(group);
    const double width = width_of(axes, group);
    const double height = axes.frame.bottom - y;
    const bool is_small = std::min(width, height / axes.pixel) < least_outlined;
    elements += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "class=\"bar{}\" data-count=\"{}\"/>\n",
        x, y, width, height, is_small ? " small" : "", group.count);
  }
  return elements;
}

std::string steps(const Axes& axes, const std::vector<BinGroup>& groups) {
  std::string path = fmt::format("M{:.1f} {:.1f}", axes.x(groups.front().lower), axes.frame.bottom);
  std::string counts;
  for (const BinGroup& group : groups) {
    path += fmt::format("V{:.1f}H{:.1f}", axes.y(group), axes.x(group.upper));
    counts += fmt::format("{}{}", counts.empty() ? "" : " ", group.count);
  }
  return fmt::format("<path d=\"{}V{:.1f}Z\" class=\"steps\" data-counts=\"{}\"/>\n", path,
                     axes.frame.bottom, counts);
}

/// Draws tooltips with the range and the count of each group. They cover the whole height of the
/// frame, since a short bar is hard to point at.
std::string tips(const Axes& axes, const std::vector<BinGroup>& groups,
                 const std::vector<std::string>& edges) {
  std::string elements;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const BinGroup& group = groups[i];
    elements += fmt::format(
        "<path d=\"M{:.1f} {:.0f}h{:.1f}V{:.0f}h-{:.1f}z\">"
        "<title>[{}, {}{}: {}</title></path>\n",
        axes.x(group.lower), axes.frame.y(1), width_of(axes, group), axes.frame.bottom,
        width_of(axes, group), edges[i], edges[i + 1], i + 1 == groups.size() ? ']' : ')',
        group_digits(std::to_string(group.count)));
  }
  return fmt::format("<g class=\"tips\">\n{}</g>\n", elements);
}

std::string draw(const Axes& axes, const std::vector<BinGroup>& groups,
                 const std::vector<std::string>& edges) {
  return (groups.size() <= most_bars ? bars(axes, groups) : steps(axes, groups)) +
         tips(axes, groups, edges);
}

}  // namespace

std::string plot_histogram(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  const std::size_t each = bins_per_group(histogram.counts.size(), most_groups);
  const std::vector<BinGroup> groups = group_bins(histogram, each);
  const std::vector<std::string> edges = labels_of(groups);
  const std::vector<std::string> notes =
      describe(histogram, edges, each, BarHeights(groups, plot.own_edges), plot.logarithmic_counts);

  const double bottom =
      title_height + static_cast<double>(notes.size()) * note_height + above_frame + frame_height;
  const Axes axes = axes_of(histogram, groups, plot, {left, bottom, frame_width, frame_height});
  Svg svg(picture_width, bottom + below_frame, style);
  svg.text(left, title_height, "start", shortened(plot.title), "title");
  for (std::size_t i = 0; i < notes.size(); ++i) {
    svg.text(left, title_height + static_cast<double>(i + 1) * note_height, "start", notes[i],
             "note");
  }
  draw_ticks(svg, axes, plot);
  svg.add(draw(axes, groups, edges));
  axes.frame.draw_axes(svg);  // last, to be in front of the bars
  return svg.document();
}

std::string histogram_figure(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  const std::size_t each = bins_per_group(histogram.counts.size(), most_groups);
  const std::vector<BinGroup> groups = group_bins(histogram, each);
  std::string notes;
  const std::vector<std::string> edges = labels_of(groups);
  for (const std::string& note : describe(
           histogram, edges, each, BarHeights(groups, plot.own_edges), plot.logarithmic_counts)) {
    notes += fmt::format("<p class=\"note\">{}</p>\n", escape_xml(note));
  }
  if (groups.empty()) return notes;

  PageChart chart(frame_height, "counts of the bins");
  Axes axes =
      axes_of(histogram, groups, plot, {0, PageChart::height, PageChart::width, PageChart::height});
  axes.pixel = PageChart::height / frame_height;
  for (const Tick& tick : axes.counts.ticks(most_up(plot))) {
    chart.tick_beside(axes.counts.position(tick.value), tick.label);
  }
  const auto ticks_of = [&](int intervals) { return axes.values.ticks(intervals); };
  for (const Tick& tick : ticks_that_fit(most_along, ticks_of)) {
    chart.tick_below(axes.values.position(tick.value), tick.label);
  }
  chart.title_beside(axes.heights.name());
  chart.title_below(plot.value_title);
  chart.add(draw(axes, groups, edges));
  return notes + chart.html();
}

}  // namespace ooc_run
