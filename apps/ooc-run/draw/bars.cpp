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
#include "draw/sum_groups.hpp"
#include "result/report.hpp"

namespace ooc_run {
namespace {

/// Returns the maximum number of rows for bins: all must fit on the screen, and be comparable.
std::size_t most_rows(const Terminal& terminal) {
  constexpr std::size_t least = 8, most = 24;
  constexpr std::size_t others = 13;  // heading, axis, below to nan, footer, verdict, prompt
  return std::clamp(terminal.rows - std::min(terminal.rows, others), least, most);
}

std::string format_percent(double part, double all) {
  if (part == 0 || all == 0) return "";
  const double percent = 100 * (part / all);
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
  void axis(std::string_view label, const Scale& scale) {
    std::string rule, labels;
    std::size_t column = corner();
    for (const Mark& mark : marks_on(scale)) {
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
  std::vector<Mark> marks_on(const Scale& scale) const {
    constexpr int most_intervals = 6;
    constexpr std::size_t gap = 3;
    for (int intervals = most_intervals; intervals > 0; --intervals) {
      const std::vector<Tick> ticks = scale.ticks(intervals);
      std::vector<Mark> marks;
      std::size_t free = 0;
      for (const Tick& tick : ticks) {
        const double along = scale.position(tick.value) * static_cast<double>(bar_columns_);
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

namespace {

/// A line of a picture: the height of its bar, and the texts beside it.
struct Row {
  double height = 0;
  std::string number{}, share{};
};

/// A line below or above the bars.
struct Outside {
  std::string_view label;
  Row row;
};

/// The rows of bins, with the edges around them, and what is in none.
struct Rows {
  std::vector<double> edges{};
  std::vector<Row> bins{};
  std::vector<Outside> below{}, above{};
};

std::string draw(const Rows& rows, const Scale& scale, const Terminal& terminal) {
  const std::vector<std::string> labels = tick_labels(rows.edges);
  std::size_t label_columns = std::string_view("below").size(), number_columns = 0;
  for (const std::string& label : labels) label_columns = std::max(label_columns, label.size());
  const auto widen = [&](const Row& row) {
    number_columns = std::max(number_columns, row.number.size());
  };
  std::ranges::for_each(rows.bins, widen);
  std::ranges::for_each(rows.below, widen, &Outside::row);
  std::ranges::for_each(rows.above, widen, &Outside::row);

  Canvas canvas(terminal, label_columns, number_columns);
  for (const auto& [label, row] : rows.below) canvas.line(label, " ", 0, row.number, row.share);
  for (std::size_t i = 0; i < rows.bins.size(); ++i) {
    const auto& [height, number, share] = rows.bins[i];
    const double length = scale.position(height) * static_cast<double>(canvas.bar_columns());
    constexpr double visible = 1e-9;  // columns
    canvas.line(labels[i], terminal.unicode ? (i == 0 ? "┌" : "├") : "|",
                height == 0 ? 0 : std::max(length, visible), number, share);
  }
  canvas.axis(labels.back(), scale);
  for (const auto& [label, row] : rows.above) canvas.line(label, " ", 0, row.number, row.share);
  return canvas.take();
}

}  // namespace

std::string draw_histogram(const ooc::Histogram& histogram, const Terminal& terminal,
                           bool logarithmic_bars, bool own_edges) {
  const std::vector<BinGroup> groups =
      group_bins(histogram, bins_per_group(histogram.counts.size(), most_rows(terminal)));
  const BarHeights heights(groups, own_edges);
  const auto row_of = [&](double height, std::uint64_t count) {
    return Row{height, group_digits(std::to_string(count)),
               format_percent(static_cast<double>(count), static_cast<double>(histogram.count))};
  };
  Rows rows;
  for (const BinGroup& group : groups) {
    rows.edges.push_back(group.lower);
    rows.bins.push_back(row_of(heights.of(group), group.count));
  }
  rows.edges.push_back(histogram.edges.back());
  if (histogram.below != 0) rows.below.push_back({"below", row_of(0, histogram.below)});
  if (histogram.above != 0) rows.above.push_back({"above", row_of(0, histogram.above)});
  if (histogram.nan != 0) rows.above.push_back({"nan", row_of(0, histogram.nan)});
  const CountAxis counts(static_cast<double>(heights.highest()), logarithmic_bars);
  return draw(rows,
              {[counts](double height) { return counts.position(height); },
               [counts](int intervals) { return counts.ticks(intervals); }},
              terminal);
}

std::string describe_sum_rows(const ooc::WeightedHistogram& histogram, const Terminal& terminal) {
  const std::size_t bins = histogram.sums.size();
  const std::size_t each = bins_per_group(bins, most_rows(terminal));
  const bool has_bars = have_bars(group_sums(histogram.sums, each));
  return describe_groups(bins, each, "row") +
         (has_bars ? "" : "; no bars, since some are negative or not finite");
}

std::string draw_sums(const ooc::WeightedHistogram& histogram, const Terminal& terminal) {
  const auto& [counted, sums, below, above, nan] = histogram;
  const std::size_t each = bins_per_group(sums.size(), most_rows(terminal));
  const std::vector<BinGroup> groups = group_bins(counted, each);
  const std::vector<SumGroup> grouped = group_sums(sums, each);
  const std::array in_none{below, above, nan};
  const std::vector<SumGroup> outside_sums = group_sums(in_none, 1);
  const bool has_bars = have_bars(grouped);
  double highest = 0, all = 0;
  if (has_bars) highest = std::ranges::max(grouped, {}, &SumGroup::value).value;
  for (const SumGroup& sum : grouped) all += sum.value;
  for (const SumGroup& sum : outside_sums) all += sum.value;
  const bool has_shares = has_bars && have_bars(outside_sums) && std::isfinite(all);
  const auto row_of = [&](const SumGroup& sum) {
    return Row{has_bars ? sum.value : 0, sum.text,
               has_shares ? format_percent(sum.value, all) : ""};
  };
  Rows rows;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    rows.edges.push_back(groups[i].lower);
    rows.bins.push_back(row_of(grouped[i]));
  }
  rows.edges.push_back(counted.edges.back());
  const auto outside = [&](std::string_view label, const SumGroup& sum) {
    Row row = row_of(sum);
    row.height = 0;
    return Outside{label, row};
  };
  if (counted.below != 0) rows.below.push_back(outside("below", outside_sums[0]));
  if (counted.above != 0) rows.above.push_back(outside("above", outside_sums[1]));
  if (counted.nan != 0) rows.above.push_back(outside("nan", outside_sums[2]));
  const ValueAxis axis(0, highest, false);
  const auto ticks_of = [&](int intervals) {
    return highest > 0 ? axis.ticks(intervals) : std::vector<Tick>{};
  };
  return draw(rows,
              {[&](double height) { return highest > 0 ? axis.position(height) : 0; }, ticks_of},
              terminal);
}

}  // namespace ooc_run
