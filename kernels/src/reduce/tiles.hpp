#pragma once

#include "reduce/exact_bins.hpp"

#include <ooc/device.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/simd.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

// What the two backends of reduce() share: the definition of a tile's statistics, which they follow
// to the bit.
//
// Element i of a tile belongs to column i % 256. A column adds its elements from the first to the
// last, and the columns are then added in a binary tree: column j takes column j + s, for s = 128,
// 64, ..., 1. A second look at the tile adds, in the same order, the squares of the distances to
// the mean that the first look found. NaN adds nothing to either. Integers are summed exactly, in
// any order; those of one or two bytes have exact sums of squares too and need no second look.

namespace ooc::reduction {

inline constexpr std::size_t columns = 256;

/// "There is none": no index of a tile.
inline constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// The statistics of one tile, the same fields for all element types. Indices are relative to it.
struct TileResult {
  double sum = 0;             // of floating types
  double m2 = 0;              // squared distances to the mean; not for integers of one or two bytes
  std::int64_t sum_high = 0;  // the sum of integer types is sum_high * 2^32 + sum_low
  std::int64_t sum_low = 0;
  std::uint64_t squares = 0;  // the sum of squares of integers of one or two bytes
  std::uint64_t min_key = 0;  // order_key() of the values; unused if all are NaN
  std::uint64_t max_key = 0;
  std::uint32_t nan = 0;
  std::uint32_t argmin = nowhere;
  std::uint32_t argmax = nowhere;
  std::uint32_t first_nan = nowhere;
};

/// What a lane of the CPU remembers from tile to tile: the extremes of tiles that lie before the
/// next one. A tile holds the first minimum of all only if no tile before it has one as small, so
/// the search for `argmin`, `argmax` and `first_nan` is left out where this shows it to be vain.
struct CpuLane {
  /// A chunk begins at element `first`: what was seen behind that says nothing of it.
  void begin_chunk(std::uint64_t first, std::uint64_t elements) {
    if (first < end) any = nan = false;
    end = first + elements;
  }

  std::uint64_t end = 0;  // of the chunk before
  std::uint64_t min_rank = 0;
  std::uint64_t max_rank = 0;
  bool any = false;  // a value that is not NaN
  bool nan = false;
  std::vector<float> converted{};  // a tile of two-byte floats, as floats

  /// Where an exact sum is asked for. Two-byte floats are added as floats.
  std::variant<std::monostate, ExactBins<float>, ExactBins<double>> exact{};
};

template <class T>
inline constexpr bool has_exact_squares = !is_floating<T> && sizeof(T) <= 2;

inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

/// A key for each value, ordered as the values are. The two zeros have neighbouring keys, so that
/// each value comes back: compare by rank_of(), which takes them as equal.
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

/// What two keys of type T are compared by: -0 and +0 have the same rank.
template <class T>
constexpr std::uint64_t rank_of(std::uint64_t key) {
  if constexpr (is_floating<T>) {
    constexpr std::uint64_t minus_zero = ~top_bit;
    return key == minus_zero ? top_bit : key;
  } else {
    return key;
  }
}

/// The floating value that has this key.
constexpr double floating_from_key(std::uint64_t key) {
  return std::bit_cast<double>((key & top_bit) != 0 ? key ^ top_bit : ~key);
}

/// The mean of a tile of integers: the sum is rounded once, since both products and terms are
/// exact.
constexpr double mean_of_integers(std::int64_t sum_high, std::int64_t sum_low, std::size_t count) {
  return (static_cast<double>(sum_high) * 0x1p32 + static_cast<double>(sum_low)) /
         static_cast<double>(count);
}

/// Reduces the tiles that begin at `data`, `count` elements in all, into one result for each.
void reduce_tiles_cpu(ElementType type, const std::byte* data, std::size_t count, Simd simd,
                      CpuLane& lane, std::span<TileResult> results);

/// The same for device memory. The results have arrived when it returns.
void reduce_tiles_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                       std::span<TileResult> results);

}  // namespace ooc::reduction
