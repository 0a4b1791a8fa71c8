#pragma once

#include <cstddef>
#include <ooc/weighted_histogram.hpp>
#include <span>
#include <string>
#include <vector>

#include "draw/axis.hpp"

namespace ooc_run {

/// Returns a linear scale that ends at the last of `ticks(intervals)`, the first one not below
/// `highest`.
Scale scale_of_sums(double highest, int intervals);

/// The sum of the weights in a group of bins.
struct SumGroup {
  double value;      // for the length of a bar
  std::string text;  // of several floating sums, which were rounded: only the digits that are known
};

/// Returns the sums of the bins, `each` together. See group_bins().
std::vector<SumGroup> group_sums(std::span<const ooc::Scalar> sums, std::size_t each);

/// True if bars can show these sums: none is negative, or not finite.
bool have_bars(std::span<const SumGroup> sums);

}  // namespace ooc_run
