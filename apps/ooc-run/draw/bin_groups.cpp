#include "draw/bin_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/sizes.hpp"

namespace ooc_run {

std::size_t bins_per_group(std::size_t bins, std::size_t most) {
  const std::size_t least = std::max<std::size_t>(1, (bins + most - 1) / most);
  for (std::size_t each = least; each <= 2 * least; ++each) {
    if (bins % each == 0) return each;
  }
  return least;
}

std::vector<BinGroup> group_bins(const ooc::Histogram& histogram, std::size_t each) {
  std::vector<BinGroup> groups;
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    if (bin % each == 0) groups.push_back({histogram.edges[bin], 0, 0});
    groups.back().upper = histogram.edges[bin + 1];
    groups.back().count += histogram.counts[bin];
  }
  return groups;
}

std::string describe_groups(std::size_t bins, std::size_t each, std::string_view group) {
  const auto digits = [](std::size_t count) { return group_digits(std::to_string(count)); };
  if (each == 1) return {};
  const std::size_t in_last = bins % each;
  const std::string text = fmt::format(", each {} sums {} bins", group, digits(each));
  return in_last == 0 ? text : fmt::format("{} ({} in the last)", text, digits(in_last));
}

std::string describe_outside(const ooc::Histogram& histogram) {
  const std::array outside{std::pair{"below", histogram.below}, std::pair{"above", histogram.above},
                           std::pair{"nan", histogram.nan}};
  std::string text;
  for (const auto& [name, count] : outside) {
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", group_digits(std::to_string(count)), name);
  }
  return text;
}

std::uint64_t most_of(const std::vector<BinGroup>& groups) {
  return groups.empty() ? 0 : std::ranges::max(groups, {}, &BinGroup::count).count;
}

namespace {

double width_of(const BinGroup& group) {
  return group.upper - group.lower;
}

/// True if widths differ by more than rounding errors of the edges.
bool have_different_widths(const std::vector<BinGroup>& groups) {
  constexpr double rounding = 1e-6;
  const auto [least, most] = std::ranges::minmax(groups, {}, width_of);
  return width_of(most) > width_of(least) * (1 + rounding);
}

}  // namespace

BarHeights::BarHeights(const std::vector<BinGroup>& groups, bool own_edges)
    : highest_(most_of(groups)) {
  if (!own_edges || highest_ == 0 || !have_different_widths(groups)) return;
  const auto density = [](const BinGroup& group) {  // does not overflow, except for width 0
    return group.count == 0 ? 0 : static_cast<long double>(group.count) / width_of(group);
  };
  const BinGroup& densest = std::ranges::max(groups, {}, density);
  if (width_of(densest) == 0) return;  // its density is infinite
  unit_ = width_of(densest);
  highest_ = densest.count;
}

double BarHeights::of(const BinGroup& group) const {
  const auto count = static_cast<double>(group.count);
  return unit_ == 0 || group.count == 0 ? count : count * (unit_ / width_of(group));
}

std::string BarHeights::name() const {
  return unit_ == 0 ? "count" : "density";
}

std::string BarHeights::remark() const {
  return unit_ == 0 ? "" : fmt::format(", bars are densities: counts per {:.6g}", unit_);
}

}  // namespace ooc_run
