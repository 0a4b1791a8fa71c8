#pragma once

#include "histogram/bins.hpp"

#include <ooc/device.hpp>

#include <cstddef>
#include <cstdint>

namespace ooc::detail::pairs {

/// Numbers the counters of pairs: those of the cells, row by row, then one for pairs outside and
/// one for pairs with a NaN. This is the only definition: the loops of both devices are compiled
/// from it.
struct CellNumbers {
  std::uint32_t x_bins, y_bins;

  constexpr std::size_t cells() const { return std::size_t{x_bins} * y_bins; }
  constexpr std::size_t counters() const { return cells() + 2; }

  /// Returns the counter of a pair, by the counters of its numbers in the bins of their axes.
  constexpr std::uint32_t number_of(std::uint32_t x, std::uint32_t y) const {
    const std::uint32_t outside = x_bins * y_bins;
    const bool is_outside = (x >= x_bins) | (y >= y_bins);
    const bool has_nan = (x == x_bins + 2) | (y == y_bins + 2);  // see binning::BinNumbers::nan()
    const std::uint32_t not_inside = has_nan ? outside + 1 : outside;
    return is_outside ? not_inside : x * y_bins + y;
  }
};

/// Replaces the counters of y by those of pairs, in host memory.
void join_numbers_cpu(const CellNumbers& cells, const std::uint32_t* x, std::uint32_t* y,
                      std::size_t count);

/// Enqueues the same for device memory.
void join_numbers_cuda(Stream& stream, const CellNumbers& cells, const std::uint32_t* x,
                       std::uint32_t* y, std::size_t count);

}  // namespace ooc::detail::pairs
