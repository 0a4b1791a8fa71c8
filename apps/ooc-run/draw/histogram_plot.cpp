#include "draw/histogram_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/axis.hpp"
#include "draw/bin_groups.hpp"
#include "draw/edge_labels.hpp"
#include "draw/page_chart.hpp"
#include "draw/sum_groups.hpp"
#include "draw/svg.hpp"
#include "result/report.hpp"

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

/// A bar of the picture: neighbouring bins, its height, and the number that it shows.
struct Bar {
  double lower, upper;
  double height;       // 0: no bar
  std::string number;  // with all digits
  std::string label;   // the number for people
};

/// The bars of a picture, and all that is said about them.
struct Bars {
  std::vector<Bar> bars{};
  std::vector<std::string> edges{};  // labels of those of all bars
  std::vector<std::string> notes{};  // lines of text above the picture
  std::string unit{};                // of the heights: "count"
  Scale scale{};
  ValueAxis values{0, 1, false};
};

constexpr int most_along = 10;  // intervals of the axis of values

int most_up(const HistogramPlot& plot) {
  return plot.logarithmic_counts ? 10 : 6;  // one per decade
}

/// Returns the lines of text above the picture. `remark`: about the heights of the bars.
std::vector<std::string> describe(const ooc::Histogram& histogram,
                                  const std::vector<std::string>& edges, std::size_t each,
                                  const std::string& remark) {
  if (histogram.edges.empty()) return {"no values"};
  std::vector<std::string> lines{fmt::format(
      "{} from {} to {}{}{}", format_count(histogram.counts.size(), "bin"), edges.front(),
      edges.back(), describe_groups(histogram.counts.size(), each, "bar"), remark)};
  const std::string others = describe_outside(histogram);
  if (!others.empty()) lines.push_back("not drawn: " + others);
  return lines;
}

ValueAxis axis_of(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  const bool empty = histogram.edges.empty();
  return {empty ? 0 : histogram.edges.front(), empty ? 1 : histogram.edges.back(),
          plot.logarithmic_values};
}

Bars bars_of(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  const std::size_t each = bins_per_group(histogram.counts.size(), most_groups);
  const std::vector<BinGroup> groups = group_bins(histogram, each);
  const BarHeights heights(groups, plot.own_edges);
  Bars all{.edges = labels_of(groups), .unit = heights.name()};
  all.notes = describe(histogram, all.edges, each,
                       heights.remark() + (plot.logarithmic_counts ? ", log scale" : ""));
  for (const BinGroup& group : groups) {
    const std::string count = std::to_string(group.count);
    all.bars.push_back({group.lower, group.upper, heights.of(group), count, group_digits(count)});
  }
  const auto axis = CountAxis::up_to(heights.highest(), plot.logarithmic_counts, most_up(plot));
  all.scale = {[axis](double height) { return axis.position(height); },
               [axis](int intervals) { return axis.ticks(intervals); }};
  all.values = axis_of(histogram, plot);
  return all;
}

Bars bars_of(const ooc::WeightedHistogram& histogram, const HistogramPlot& plot) {
  const ooc::Histogram& counted = histogram.histogram;
  const std::size_t each = bins_per_group(histogram.sums.size(), most_groups);
  const std::vector<BinGroup> groups = group_bins(counted, each);
  const std::vector<SumGroup> sums = group_sums(histogram.sums, each);
  Bars all{.edges = labels_of(groups), .unit = "sum"};
  all.notes = describe(counted, all.edges, each, ", sums of weights");
  double highest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& [height, text] = sums[i];
    highest = std::max(highest, height);
    all.bars.push_back({groups[i].lower, groups[i].upper, height, format_real(height), text});
  }
  all.scale = scale_of_sums(highest, most_up(plot));
  all.values = axis_of(counted, plot);
  return all;
}

/// The coordinate system of the bars.
struct Axes {
  Frame frame;
  const Bars& all;
  double pixel = 1;  // height of a pixel, in units of the picture

  double x(double value) const { return frame.x(all.values.position(value)); }

  /// Returns the top of a bar. A height above 0 is at least a pixel high.
  double y(const Bar& bar) const {
    const double y = frame.y(all.scale.position(bar.height));
    return bar.height == 0 ? frame.bottom : std::min(y, frame.bottom - pixel);
  }
};

void draw_ticks(Svg& svg, const Axes& axes, const HistogramPlot& plot) {
  for (const Tick& tick : axes.all.scale.ticks(most_up(plot))) {
    axes.frame.draw_tick_beside(svg, axes.all.scale.position(tick.value), tick.label);
  }
  for (const Tick& tick : axes.all.values.ticks(most_along)) {
    axes.frame.draw_tick_below(svg, axes.all.values.position(tick.value), tick.label);
  }
  axes.frame.draw_title_beside(svg, axes.all.unit);
  axes.frame.draw_title_below(svg, shortened(plot.value_title));
}

/// Returns the width of a bar, at least 1: the edges of a bin may be equal.
double width_of(const Axes& axes, const Bar& bar) {
  constexpr double least = 1;
  return std::max(least, axes.x(bar.upper) - axes.x(bar.lower));
}

std::string rectangles(const Axes& axes) {
  constexpr double least_outlined = 3;  // an outline would hide smaller bars
  std::string elements;
  for (const Bar& bar : axes.all.bars) {
    const double x = axes.x(bar.lower), y = axes.y(bar);
    const double width = width_of(axes, bar);
    const double height = axes.frame.bottom - y;
    const bool is_small = std::min(width, height / axes.pixel) < least_outlined;
    elements += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "class=\"bar{}\" data-count=\"{}\"/>\n",
        x, y, width, height, is_small ? " small" : "", bar.number);
  }
  return elements;
}

std::string steps(const Axes& axes) {
  const std::vector<Bar>& bars = axes.all.bars;
  std::string path = fmt::format("M{:.1f} {:.1f}", axes.x(bars.front().lower), axes.frame.bottom);
  std::string numbers;
  for (const Bar& bar : bars) {
    path += fmt::format("V{:.1f}H{:.1f}", axes.y(bar), axes.x(bar.upper));
    numbers += fmt::format("{}{}", numbers.empty() ? "" : " ", bar.number);
  }
  return fmt::format("<path d=\"{}V{:.1f}Z\" class=\"steps\" data-counts=\"{}\"/>\n", path,
                     axes.frame.bottom, numbers);
}

/// Draws tooltips with the range and the number of each bar. They cover the whole height of the
/// frame, since a short bar is hard to point at.
std::string tips(const Axes& axes) {
  const std::vector<Bar>& bars = axes.all.bars;
  const std::vector<std::string>& edges = axes.all.edges;
  std::string elements;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    elements += fmt::format(
        "<path d=\"M{:.1f} {:.0f}h{:.1f}V{:.0f}h-{:.1f}z\">"
        "<title>[{}, {}{}: {}</title></path>\n",
        axes.x(bars[i].lower), axes.frame.y(1), width_of(axes, bars[i]), axes.frame.bottom,
        width_of(axes, bars[i]), edges[i], edges[i + 1], i + 1 == bars.size() ? ']' : ')',
        bars[i].label);
  }
  return fmt::format("<g class=\"tips\">\n{}</g>\n", elements);
}

std::string draw(const Axes& axes) {
  return (axes.all.bars.size() <= most_bars ? rectangles(axes) : steps(axes)) + tips(axes);
}

std::string document_of(const Bars& all, const HistogramPlot& plot) {
  const double bottom = title_height + static_cast<double>(all.notes.size()) * note_height +
                        above_frame + frame_height;
  const Axes axes{{left, bottom, frame_width, frame_height}, all};
  Svg svg(picture_width, bottom + below_frame, style);
  svg.text(left, title_height, "start", shortened(plot.title), "title");
  for (std::size_t i = 0; i < all.notes.size(); ++i) {
    svg.text(left, title_height + static_cast<double>(i + 1) * note_height, "start", all.notes[i],
             "note");
  }
  draw_ticks(svg, axes, plot);
  svg.add(draw(axes));
  axes.frame.draw_axes(svg);  // last, to be in front of the bars
  return svg.document();
}

std::string figure_of(const Bars& all, const HistogramPlot& plot, const std::string& summary) {
  std::string notes;
  for (const std::string& note : all.notes) {
    notes += fmt::format("<p class=\"note\">{}</p>\n", escape_xml(note));
  }
  if (all.bars.empty()) return notes;

  PageChart chart(frame_height, summary);
  const Axes axes{{0, PageChart::height, PageChart::width, PageChart::height},
                  all,
                  PageChart::height / frame_height};
  for (const Tick& tick : axes.all.scale.ticks(most_up(plot))) {
    chart.tick_beside(axes.all.scale.position(tick.value), tick.label);
  }
  const auto ticks_of = [&](int intervals) { return axes.all.values.ticks(intervals); };
  for (const Tick& tick : ticks_that_fit(most_along, ticks_of)) {
    chart.tick_below(axes.all.values.position(tick.value), tick.label);
  }
  chart.title_beside(axes.all.unit);
  chart.title_below(plot.value_title);
  chart.add(draw(axes));
  return notes + chart.html();
}

}  // namespace

std::string plot_histogram(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  return document_of(bars_of(histogram, plot), plot);
}

std::string histogram_figure(const ooc::Histogram& histogram, const HistogramPlot& plot) {
  return figure_of(bars_of(histogram, plot), plot, "counts of the bins");
}

bool can_plot_sums(const ooc::WeightedHistogram& histogram) {
  return have_bars(group_sums(histogram.sums, bins_per_group(histogram.sums.size(), most_groups)));
}

std::string plot_sums(const ooc::WeightedHistogram& histogram, const HistogramPlot& plot) {
  return document_of(bars_of(histogram, plot), plot);
}

std::string sums_figure(const ooc::WeightedHistogram& histogram, const HistogramPlot& plot) {
  return figure_of(bars_of(histogram, plot), plot, "sums of the bins");
}

}  // namespace ooc_run
