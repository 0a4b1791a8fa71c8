#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/detail/kernels/histogram.hpp>
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

}  // namespace ooc_run
