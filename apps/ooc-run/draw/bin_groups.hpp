#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/histogram.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// Neighbouring bins that share a bar or row of a picture.
struct BinGroup {
  double lower, upper;
  std::uint64_t count;
};

/// Returns the number of bins per group if there is room for `most` groups. Prefers a divisor of
/// `bins`, so that all groups are equal, if one is at most twice the smallest number that fits.
/// Otherwise returns that smallest number.
std::size_t bins_per_group(std::size_t bins, std::size_t most);

/// Groups the bins, `each` to a group. The last group has the remainder.
std::vector<BinGroup> group_bins(const ooc::Histogram& histogram, std::size_t each);

/// Returns ", each row sums 16 bins" if `group` is "row". Empty for one bin per group.
std::string describe_groups(std::size_t bins, std::size_t each, std::string_view group);

/// Returns the counts of values that are in no bin: "7 below, 12,345 nan". Empty if there are none.
std::string describe_outside(const ooc::Histogram& histogram);

/// Returns the largest count of a group.
std::uint64_t most_of(const std::vector<BinGroup>& groups);

/// The heights of bars. They are counts or, if bars have different widths, densities: counts per
/// width of the densest bar, whose height is its count.
class BarHeights {
 public:
  /// `own_edges`: the edges of bins were given, so that widths may differ.
  BarHeights(const std::vector<BinGroup>& groups, bool own_edges);

  double of(const BinGroup& group) const;

  std::uint64_t highest() const { return highest_; }

  /// Returns the name of the heights: "count" or "density".
  std::string name() const;

  /// Returns ", bars are densities: counts per 0.5". Empty for counts.
  std::string remark() const;

 private:
  double unit_ = 0;  // width; 0: counts
  std::uint64_t highest_;
};

}  // namespace ooc_run
