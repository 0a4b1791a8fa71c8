#pragma once

#include "reduce/exact_bins.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

// The definition of a tile's statistics, which both backends of reduce() follow to the bit.
//
// Element i of a tile belongs to column i % 256. A column adds its elements from the first to the
// last, and the columns are then added in a binary tree: column j adds column j + s, for s = 128,
// 64, ..., 1. A second loop over the tile adds, in the same order, the squared distances from the
// mean that the first loop found. NaN is skipped in both. Integers are summed exactly, in any
// order; those of one or two bytes have exact sums of squares too and need no second loop.

namespace ooc::detail::reduction {

inline constexpr std::size_t columns = 256;

/// Marks an index of a tile that does not exist.
inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// The statistics of one tile, with the same fields for all element types. Indices count from the
/// beginning of the tile.
struct TileResult {
  double sum = 0;  // for floating types
  double m2 = 0;   // squared distances from the mean; not for integers of one or two bytes
  std::int64_t sum_high = 0;  // for integer types, the sum is sum_high * 2^32 + sum_low
  std::int64_t sum_low = 0;
  std::uint64_t squares = 0;  // for integers of one or two bytes, the sum of squares
  std::uint64_t min_key = 0;  // order_key() of the minimum; unused if all are NaN
  std::uint64_t max_key = 0;
  std::uint32_t nan = 0;
  std::uint32_t inf = 0;
  std::uint32_t argmin = nowhere;
  std::uint32_t argmax = nowhere;
  std::uint32_t first_nan = nowhere;
};

/// The extremes of the tiles so far of a CPU lane, if these precede the next one. A tile can hold
/// the first minimum of all only if no earlier tile has one as small. Tiles that cannot are not
/// searched for `argmin`. The same goes for `argmax` and `first_nan`.
struct SeenExtremes {
  std::uint64_t min_rank = 0;
  std::uint64_t max_rank = 0;
  bool any = false;  // an element was not NaN
  bool nan = false;
};

/// State of a CPU lane between tiles.
struct CpuLane {
  /// Starts a chunk at element `first`. If it is before an earlier chunk, forgets the extremes:
  /// they do not tell which element is the first.
  void begin_chunk(std::uint64_t first, std::uint64_t elements) {
    if (first < end) seen = {};
    end = first + elements;
  }

  std::uint64_t end = 0;  // of the last chunk
  SeenExtremes seen{};
  std::vector<float> converted{};  // scratch memory: a tile of two-byte floats as floats

  /// Used if ReduceOptions::exact. Two-byte floats are added as floats.
  std::variant<std::monostate, ExactBins<float>, ExactBins<double>> exact{};
};

template <class T>
inline constexpr bool has_exact_squares = !is_floating<T> && sizeof(T) <= 2;

inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

/// Returns a key that orders as the values do. The two zeros have neighbouring keys, so that each
/// value can be restored; rank_of() treats them as equal.
template <class T>
constexpr std::uint64_t order_key(T value) {
  if constexpr (is_floating<T>) {
    const auto bits = std::bit_cast<std::uint64_t>(to_double(value));
    return (bits & top_bit) != 0 ? ~bits : bits | top_bit;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ top_bit;
  } else {
    return value;
  }
}

/// Returns the rank by which two keys of type T are compared. -0 and +0 have the same rank.
template <class T>
constexpr std::uint64_t rank_of(std::uint64_t key) {
  if constexpr (is_floating<T>) {
    constexpr std::uint64_t minus_zero = ~top_bit;
    return key == minus_zero ? top_bit : key;
  } else {
    return key;
  }
}

/// Returns the floating value of a key.
constexpr double floating_from_key(std::uint64_t key) {
  return std::bit_cast<double>((key & top_bit) != 0 ? key ^ top_bit : ~key);
}

/// Returns the mean of a tile of integers. The sum is rounded once, since both products and terms
/// are exact.
constexpr double mean_of_integers(std::int64_t sum_high, std::int64_t sum_low, std::size_t count) {
  return (static_cast<double>(sum_high) * 0x1p32 + static_cast<double>(sum_low)) /
         static_cast<double>(count);
}

/// Reduces `count` elements at `data`, which begin a tile, to one result for each tile.
void reduce_tiles_cpu(ElementType type, const std::byte* data, std::size_t count, Simd simd,
                      CpuLane& lane, std::span<TileResult> results);

/// Does the same in device memory. Blocks until the results are in host memory.
void reduce_tiles_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                       std::span<TileResult> results);

}  // namespace ooc::detail::reduction
