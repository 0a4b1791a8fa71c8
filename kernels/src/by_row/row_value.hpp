#pragma once

#include "by_row/rows.hpp"
#include "reduce/node.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// From the statistics of the tiles of a row to its result, for both backends. Only files that must
// not fuse products and sums include this.

namespace ooc::detail::by_row {

/// Merges the results of the tiles of a row of `length` elements in the tree of reduce(): as soon
/// as both nodes of a pair are there, and at the end from the right to the left. The results of a
/// row lie `stride` apart. `waiting`: room for as many nodes as there are tiles, if not one.
template <class T>
constexpr reduction::Node<T> merged(const lines::TileResult* results, std::size_t stride,
                                    std::size_t length, reduction::Node<T>* waiting) {
  if (length <= tile_elements) return reduction::node_of<T>(*results, 0, length);
  std::size_t nodes = 0;
  std::uint64_t tiles = 0;
  for (std::size_t first = 0; first < length; first += tile_elements, results += stride) {
    const std::size_t rest = length - first;
    // std::min() would take the address of a constant, which a GPU does not have.
    const std::size_t count = rest < tile_elements ? rest : tile_elements;
    waiting[nodes++] = reduction::node_of<T>(*results, first, count);
    for (std::uint64_t pairs = ++tiles; pairs % 2 == 0; pairs /= 2) {
      --nodes;
      waiting[nodes - 1].merge_right(waiting[nodes]);
    }
  }
  for (; nodes > 1; --nodes) waiting[nodes - 2].merge_right(waiting[nodes - 1]);
  return waiting[0];
}

inline constexpr std::uint64_t no_index = ~std::uint64_t{0};  // -1

constexpr std::uint64_t bits_of(double value) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<std::uint64_t>(value != value ? nan : value);
}

template <class T>
inline constexpr std::uint64_t nan_bits = 0;
template <>
inline constexpr std::uint64_t nan_bits<double> = bits_of(std::numeric_limits<double>::quiet_NaN());
template <>
inline constexpr std::uint64_t nan_bits<float> =
    std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
template <>
inline constexpr std::uint64_t nan_bits<Float16> = 0x7e00;
template <>
inline constexpr std::uint64_t nan_bits<BFloat16> = 0x7fc0;

/// Returns the bits of an element, or those of NaN at `no_index`.
template <class T>
constexpr std::uint64_t bits_at(const T* row, std::uint64_t index) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  if (is_floating<T> && index == no_index) return nan_bits<T>;
  return std::bit_cast<Bits>(row[index]);
}

/// Returns the bits of the result of a row, given the results of its tiles: in the low bytes, as
/// many as its type has. The other arguments are those of merged().
template <class T>
constexpr std::uint64_t value_of(const Question& asked, const T* row,
                                 const lines::TileResult* results, std::size_t stride,
                                 reduction::Node<T>* waiting) {
  const auto found = merged(results, stride, asked.columns, waiting);
  const RowValue value = asked.options.value;
  const bool is_nan = found.nan != 0 && asked.options.nan == NanPolicy::propagate;
  if (value == RowValue::minimum || value == RowValue::argmin || value == RowValue::maximum ||
      value == RowValue::argmax) {
    const bool least = value == RowValue::minimum || value == RowValue::argmin;
    const std::uint64_t place = is_nan ? found.first_nan : least ? found.argmin : found.argmax;
    const bool is_index = value == RowValue::argmin || value == RowValue::argmax;
    return is_index ? place : bits_at(row, place);
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (value == RowValue::sum) {
    if constexpr (is_floating<T>) {
      return bits_of(is_nan ? nan : found.sum);
    } else {
      return static_cast<std::uint64_t>(found.sum);
    }
  }
  if (is_nan || found.values() == 0) return bits_of(nan);
  if (value == RowValue::mean) return bits_of(found.mean());
  const double variance = found.m2 / static_cast<double>(found.values());
  return bits_of(value == RowValue::variance ? variance : std::sqrt(variance));
}

}  // namespace ooc::detail::by_row
