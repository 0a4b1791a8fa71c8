#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Returns the fraction of odd values if the sample is read as a floating-point type: NaN, and
/// values with a very large or very small magnitude. Zeros are not counted. 0 for other types.
double odd_share(std::span<const std::byte> sample, const DType& type);

/// True if the numbers of a sample are plausible in the other byte order and are not in this one.
/// Zeros in the low bytes are no reason: times in nanoseconds, samples of 24 bits and other numbers
/// have them in the right order.
bool looks_swapped(std::span<const std::byte> sample, const DType& type);

}  // namespace ooc::detail
