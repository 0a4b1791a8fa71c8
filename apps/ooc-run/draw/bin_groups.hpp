#pragma once

#include <cstddef>
#include <cstdint>
#include <ooc/kernels/histogram.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// Neighbouring bins that share a place in a picture.
struct BinGroup {
  double lower, upper;
  std::uint64_t count;
};

/// How many bins share a place where there is room for `most`: a divisor of `bins` if that leaves
/// places enough, so that all are alike, else as few as fit.
std::size_t bins_per_group(std::size_t bins, std::size_t most);

/// The bins, `each` to a group, the rest in the last one.
std::vector<BinGroup> group_bins(const ooc::Histogram& histogram, std::size_t each);

/// ", 16 to a row", where a group is a row. Empty if each bin has its own.
std::string describe_groups(std::size_t bins, std::size_t each, std::string_view group);

/// The most elements of a group.
std::uint64_t most_of(const std::vector<BinGroup>& groups);

}  // namespace ooc_run
