#include "picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sizes.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t most_rows = 24;

struct Row {
  double lower;
  std::uint64_t count;
};

/// How many bins share a row: a divisor of `bins` if that leaves rows enough, so that all rows are
/// alike, else as few as fit.
std::size_t bins_per_row(std::size_t bins) {
  const std::size_t least = (bins + most_rows - 1) / most_rows;
  for (std::size_t wide = least; wide <= 2 * least; ++wide) {
    if (bins % wide == 0) return wide;
  }
  return least;
}

std::vector<Row> group_bins(const ooc::Histogram& histogram, std::size_t per_row) {
  std::vector<Row> rows;
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    if (bin % per_row == 0) rows.push_back({histogram.edges[bin], 0});
    rows.back().count += histogram.counts[bin];
  }
  return rows;
}

/// Labels for places on the axis: as few digits, the same for all, as put each within a twentieth
/// of a row, and half a percent of the axis, of its place.
std::vector<std::string> axis_labels(const std::vector<double>& places) {
  const auto all_near = [&](const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t left = i == 0 ? 0 : i - 1;
      const double row = places[left + 1] - places[left];
      // Halves, since the whole axis may be longer than the largest double.
      const double half_axis = places.back() / 2 - places.front() / 2;
      const double far = std::abs(std::strtod(labels[i].c_str(), nullptr) - places[i]);
      if (!(far <= std::min(row / 20, half_axis / 100))) return false;
    }
    return true;
  };
  std::vector<std::string> labels(places.size());
  constexpr double longest_fixed = 1e7;
  if (std::ranges::all_of(places, [](double x) { return std::abs(x) < longest_fixed; })) {
    for (int digits = 0; digits <= 6; ++digits) {
      std::ranges::transform(places, labels.begin(),
                             [&](double x) { return fmt::format("{:.{}f}", x + 0.0, digits); });
      if (all_near(labels)) return labels;
    }
  }
  for (int digits = 2; digits <= 16; ++digits) {
    std::ranges::transform(places, labels.begin(),
                           [&](double x) { return fmt::format("{:.{}e}", x + 0.0, digits); });
    if (all_near(labels)) break;
  }
  return labels;
}

std::string format_percent(std::uint64_t part, std::uint64_t all) {
  if (part == 0 || all == 0) return "";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(all);
  return percent < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

/// A bar of `length` columns. What is not nothing is seen.
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

std::size_t columns_of(const std::string& bar) {
  // Every character counts but the continuation bytes of UTF-8.
  return static_cast<std::size_t>(
      std::ranges::count_if(bar, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

/// The columns of the picture: label, axis, bar, count, percentage.
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

  std::string take() { return std::move(text_); }

 private:
  Terminal terminal_;
  std::size_t label_columns_, count_columns_, bar_columns_ = 0;
  std::string text_;
};

}  // namespace

std::string describe_rows(const ooc::Histogram& histogram) {
  const std::size_t bins = histogram.counts.size();
  const std::size_t per_row = bins_per_row(bins);
  if (per_row == 1) return {};
  const std::size_t in_last = bins % per_row;
  if (in_last == 0) return fmt::format(", {} to a row", per_row);
  return fmt::format(", {} to a row ({} in the last)", per_row, in_last);
}

std::string draw_histogram(const ooc::Histogram& histogram, const Terminal& terminal,
                           bool logarithmic_bars) {
  const std::size_t per_row = bins_per_row(histogram.counts.size());
  const std::vector<Row> rows = group_bins(histogram, per_row);
  std::vector<double> places;
  for (const Row& row : rows) places.push_back(row.lower);
  places.push_back(histogram.edges.back());
  const std::vector<std::string> labels = axis_labels(places);

  const std::uint64_t most = std::ranges::max(rows, {}, &Row::count).count;
  std::size_t label_columns = std::string_view("below").size();
  for (const std::string& label : labels) label_columns = std::max(label_columns, label.size());
  const std::uint64_t widest = std::max({most, histogram.below, histogram.above, histogram.nan});
  const auto length = [&](std::uint64_t count) {
    const auto part = static_cast<double>(count);
    const auto whole = static_cast<double>(std::max<std::uint64_t>(1, most));
    return logarithmic_bars ? std::log1p(part) / std::log1p(whole) : part / whole;
  };
  const auto digits = [](std::uint64_t count) { return group_digits(std::to_string(count)); };

  Canvas canvas(terminal, label_columns, digits(widest).size());
  const auto outside = [&](std::string_view label, std::uint64_t count) {
    if (count == 0) return;
    canvas.line(label, " ", 0, digits(count), format_percent(count, histogram.count));
  };
  outside("below", histogram.below);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    canvas.line(labels[i], terminal.unicode ? (i == 0 ? "┌" : "├") : "|",
                length(rows[i].count) * static_cast<double>(canvas.bar_columns()),
                digits(rows[i].count), format_percent(rows[i].count, histogram.count));
  }
  canvas.line(labels.back(), terminal.unicode ? "└" : "+", 0, "", "");
  outside("above", histogram.above);
  outside("nan", histogram.nan);
  return canvas.take();
}

}  // namespace ooc_run
