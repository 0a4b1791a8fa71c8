#include "draw/bars.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "draw/axis.hpp"
#include "draw/bin_groups.hpp"

namespace ooc_run {
namespace {

/// Returns the maximum number of rows for bins: all must fit on the screen, and be comparable.
std::size_t most_rows(const Terminal& terminal) {
  constexpr std::size_t least = 8, most = 24;
  constexpr std::size_t others = 13;  // heading, axis, below to nan, footer, verdict, prompt
  return std::clamp(terminal.rows - std::min(terminal.rows, others), least, most);
}

std::string format_percent(std::uint64_t part, std::uint64_t all) {
  if (part == 0 || all == 0) return "";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(all);
  return percent < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

/// Draws a bar of `length` columns. A bar of any positive length is visible.
std::string draw_bar(double length, bool unicode) {
  if (!unicode) {
    return std::string(static_cast<std::size_t>(length > 0 ? std::max(1.0, length) : 0), '#');
  }
  constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto filled = static_cast<std::size_t>(std::lround(length * 8));
  if (length > 0) filled = std::max<std::size_t>(1, filled);
  std::string bar;
  for (std::size_t i = 0; i < filled / 8; ++i) bar += "█";
  bar += eighths[filled % 8];
  return bar;
}

/// Builds the picture, whose columns are: label, axis, bar, count, percentage.
class Canvas {
 public:
  Canvas(const Terminal& terminal, std::size_t label_columns, std::size_t count_columns)
      : terminal_(terminal), label_columns_(label_columns), count_columns_(count_columns) {
    constexpr std::size_t percent_columns = 8;
    constexpr std::size_t shortest_bar = 8;
    const std::size_t others = 2 + label_columns + 2 + 2 + count_columns + percent_columns;
    bar_columns_ = std::max(shortest_bar, terminal.columns - std::min(terminal.columns, others));
  }

  std::size_t bar_columns() const { return bar_columns_; }

  void line(std::string_view label, std::string_view axis, double bar_length,
            std::string_view count, std::string_view percent) {
    const std::string bar = draw_bar(bar_length, terminal_.unicode);
    const std::string space(bar_columns_ - std::min(bar_columns_, columns_of(bar)), ' ');
    const bool colour = terminal_.colour && !bar.empty();
    std::string text = fmt::format("  {:>{}} {}{}{}{}{}  {:>{}}{:>8}", label, label_columns_, axis,
                                   colour ? "\x1b[36m" : "", bar, colour ? "\x1b[0m" : "", space,
                                   count, count_columns_, percent);
    text.resize(text.find_last_not_of(' ') + 1);
    text_ += text + "\n";
  }

  /// Adds the axis of the bars with its ticks. `label`: the value at the end of the last row.
  void axis(std::string_view label, const CountAxis& counts) {
    std::string rule, labels;
    std::size_t column = corner();
    for (const Mark& mark : marks_on(counts)) {
      for (; column < mark.column; ++column) {
        const bool tick = column + 1 == mark.column;
        rule += terminal_.unicode ? (tick ? "┬" : "─") : (tick ? "+" : "-");
      }
      labels.resize(mark.label_begin, ' ');
      labels += mark.label;
    }
    text_ +=
        fmt::format("  {:>{}} {}{}\n", label, label_columns_, terminal_.unicode ? "└" : "+", rule);
    if (!labels.empty()) text_ += labels + "\n";
  }

  std::string take() { return std::move(text_); }

 private:
  /// A tick and its label, in columns of the line.
  struct Mark {
    std::size_t column, label_begin;
    std::string label;
  };

  /// Returns the column where the axes meet.
  std::size_t corner() const { return 2 + label_columns_ + 1; }

  /// Returns as many ticks as have room for their labels. None if all counts are 0.
  std::vector<Mark> marks_on(const CountAxis& counts) const {
    constexpr int most_intervals = 6;
    constexpr std::size_t gap = 3;
    for (int intervals = most_intervals; intervals > 0; --intervals) {
      const std::vector<Tick> ticks = counts.ticks(intervals);
      std::vector<Mark> marks;
      std::size_t free = 0;
      for (const Tick& tick : ticks) {
        const double along = counts.position(tick.value) * static_cast<double>(bar_columns_);
        const std::size_t column = corner() + static_cast<std::size_t>(std::lround(along));
        const std::size_t begin = column - std::min(column, tick.label.size() / 2);
        if (begin < free) break;
        marks.push_back({column, begin, tick.label});
        free = begin + tick.label.size() + gap;
      }
      if (marks.size() > 1 && marks.size() == ticks.size()) return marks;
    }
    return {};
  }

  Terminal terminal_;
  std::size_t label_columns_, count_columns_, bar_columns_ = 0;
  std::string text_;
};

}  // namespace

std::string describe_rows(const ooc::Histogram& histogram, const Terminal& terminal,
                          bool own_edges) {
  const std::size_t bins = histogram.counts.size();
  const std::size_t each = bins_per_group(bins, most_rows(terminal));
  return describe_groups(bins, each, "row") +
         BarHeights(group_bins(histogram, each), own_edges).remark();
}

std::string draw_histogram(const ooc::Histogram& histogram, const Terminal& terminal,
                           bool logarithmic_bars, bool own_edges) {
  const std::vector<BinGroup> rows =
      group_bins(histogram, bins_per_group(histogram.counts.size(), most_rows(terminal)));
  std::vector<double> points;
  for (const BinGroup& row : rows) points.push_back(row.lower);
  points.push_back(histogram.edges.back());
  const std::vector<std::string> labels = tick_labels(points);

  const std::uint64_t most = most_of(rows);
  std::size_t label_columns = std::string_view("below").size();
  for (const std::string& label : labels) label_columns = std::max(label_columns, label.size());
  const std::uint64_t widest = std::max({most, histogram.below, histogram.above, histogram.nan});
  const BarHeights heights(rows, own_edges);
  const CountAxis counts(static_cast<double>(heights.highest()), logarithmic_bars);
  const auto digits = [](std::uint64_t count) { return group_digits(std::to_string(count)); };

  Canvas canvas(terminal, label_columns, digits(widest).size());
  const auto outside = [&](std::string_view label, std::uint64_t count) {
    if (count == 0) return;
    canvas.line(label, " ", 0, digits(count), format_percent(count, histogram.count));
  };
  outside("below", histogram.below);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double length =
        counts.position(heights.of(rows[i])) * static_cast<double>(canvas.bar_columns());
    constexpr double visible = 1e-9;  // columns
    canvas.line(labels[i], terminal.unicode ? (i == 0 ? "┌" : "├") : "|",
                rows[i].count == 0 ? 0 : std::max(length, visible), digits(rows[i].count),
                format_percent(rows[i].count, histogram.count));
  }
  canvas.axis(labels.back(), counts);
  outside("above", histogram.above);
  outside("nan", histogram.nan);
  return canvas.take();
}

}  // namespace ooc_run
