#pragma once

#include <cstddef>
#include <ooc/weighted_histogram.hpp>
#include <vector>

#include "draw/axis.hpp"

namespace ooc_run {

/// Returns a linear scale that ends at the last of `ticks(intervals)`, the first one not below
/// `highest`.
Scale scale_of_sums(double highest, int intervals);

/// Returns the sums of the bins, `each` together. See group_bins().
std::vector<ooc::Scalar> group_sums(const std::vector<ooc::Scalar>& sums, std::size_t each);

/// True if bars can show these sums: none is negative, or not finite.
bool have_bars(const std::vector<ooc::Scalar>& sums);

}  // namespace ooc_run
