#include "draw/cell_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/sizes.hpp"
#include "draw/bin_groups.hpp"
#include "draw/edge_labels.hpp"

namespace ooc_run {
namespace {

std::vector<double> edges_of_groups(const std::vector<double>& edges, std::size_t each) {
  std::vector<double> some;
  for (std::size_t i = 0; i + 1 < edges.size(); i += each) some.push_back(edges[i]);
  some.push_back(edges.back());
  return some;
}

}  // namespace

CellGroups group_cells(const ooc::Histogram2d& histogram, std::size_t most_columns,
                       std::size_t most_rows) {
  const std::size_t x_bins = histogram.x_edges.size() - 1, y_bins = histogram.y_edges.size() - 1;
  const std::size_t x_each = bins_per_group(x_bins, most_columns);
  const std::size_t y_each = bins_per_group(y_bins, most_rows);
  CellGroups groups{.x_edges = edges_of_groups(histogram.x_edges, x_each),
                    .y_edges = edges_of_groups(histogram.y_edges, y_each),
                    .counts = {},
                    .x_each = x_each,
                    .y_each = y_each,
                    .most = 0};
  groups.counts.resize(groups.columns() * groups.rows());
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const std::size_t column = i / y_bins / x_each, row = i % y_bins / y_each;
    groups.counts[column * groups.rows() + row] += histogram.counts[i];
  }
  groups.most = std::ranges::max(groups.counts);
  return groups;
}

std::string describe_cells(const ooc::Histogram2d& histogram, const CellGroups& groups,
                           bool logarithmic) {
  const auto ends = [](const std::vector<double>& edges) {
    const auto labels = edge_labels(std::array{edges.front(), edges.back()});
    return fmt::format("from {} to {}", labels[0], labels[1]);
  };
  const bool are_cells = groups.x_each == 1 && groups.y_each == 1;
  return fmt::format(
      "{} x {} cells: x {}, y {}{}{}", histogram.x_edges.size() - 1, histogram.y_edges.size() - 1,
      ends(histogram.x_edges), ends(histogram.y_edges),
      are_cells ? "" : fmt::format(", each field sums {} x {} cells", groups.x_each, groups.y_each),
      logarithmic ? ", log scale" : "");
}

std::string describe_outside(const ooc::Histogram2d& histogram) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* name) {
    if (count == 0) return;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", group_digits(std::to_string(count)), name);
  };
  add(histogram.outside, "outside");
  add(histogram.nan, "nan");
  return text;
}

}  // namespace ooc_run
