#pragma once

#include "reduce/tiles.hpp"

#include <ooc/detail/kernels/number.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ooc::reduction {

inline constexpr std::uint64_t nowhere_at_all = std::numeric_limits<std::uint64_t>::max();

/// The statistics of neighbouring tiles: a node of the tree of tiles. Indices count from the start
/// of the dataset.
template <class T>
struct Node {
  using Sum = std::conditional_t<is_floating<T>, double, int128>;

  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  Sum sum = 0;
  double m2 = 0;
  std::uint64_t min_key = 0;  // order_key() of the minimum; unused if there are no values
  std::uint64_t max_key = 0;
  std::uint64_t argmin = nowhere_at_all;
  std::uint64_t argmax = nowhere_at_all;
  std::uint64_t first_nan = nowhere_at_all;

  std::uint64_t values() const { return count - nan; }
  double mean() const { return static_cast<double>(sum) / static_cast<double>(values()); }

  void merge_right(const Node& right) {
    if (nan == 0) first_nan = right.first_nan;
    if (values() == 0) {
      take_values(right);
    } else if (right.values() != 0) {
      merge_values(right);
    }
    count += right.count;
    nan += right.nan;
  }

 private:
  void take_values(const Node& right) {
    sum = right.sum;
    m2 = right.m2;
    take_minimum(right);
    take_maximum(right);
  }

  /// Merges by the formula of Chan, Golub and LeVeque (1979).
  void merge_values(const Node& right) {
    const auto left_values = static_cast<double>(values());
    const auto right_values = static_cast<double>(right.values());
    const double delta = right.mean() - mean();
    const double weight = left_values * right_values / (left_values + right_values);
    m2 = (m2 + right.m2) + (delta * delta) * weight;
    sum += right.sum;
    // If both are equal, the left one is first.
    if (rank_of<T>(right.min_key) < rank_of<T>(min_key)) take_minimum(right);
    if (rank_of<T>(right.max_key) > rank_of<T>(max_key)) take_maximum(right);
  }

  void take_minimum(const Node& right) {
    min_key = right.min_key;
    argmin = right.argmin;
  }
  void take_maximum(const Node& right) {
    max_key = right.max_key;
    argmax = right.argmax;
  }
};

/// True if records from `first` on can have such statistics. A node that is not the whole need not
/// have the places of its extremes and its first NaN: see CpuLane.
template <class T>
bool is_possible(const Node<T>& node, std::uint64_t first) {
  const auto is_inside = [&](std::uint64_t index) {
    return index == nowhere_at_all || (index >= first && index - first < node.count);
  };
  if (node.nan > node.count || (node.nan != 0 && !is_floating<T>)) return false;
  if (!is_inside(node.first_nan) || (node.nan == 0 && node.first_nan != nowhere_at_all))
    return false;
  return node.values() == 0 || (is_inside(node.argmin) && is_inside(node.argmax) &&
                                rank_of<T>(node.min_key) <= rank_of<T>(node.max_key));
}

/// Returns the sum of squared distances of integers from their mean: an exact integer divided by
/// `count`.
inline double m2_of_integers(std::uint64_t count, int128 sum, std::uint64_t squares) {
  const int128 numerator = int128{count} * squares - sum * sum;
  return static_cast<double>(numerator) / static_cast<double>(count);
}

/// Returns the leaf for a tile. `first` is the index of its first element.
template <class T>
Node<T> node_of(const TileResult& tile, std::uint64_t first, std::size_t count) {
  const auto index_of = [first](std::uint32_t index) {
    return index == nowhere ? nowhere_at_all : first + index;
  };
  Node<T> node;
  node.count = count;
  node.nan = tile.nan;
  node.m2 = tile.m2;
  if constexpr (is_floating<T>) {
    node.sum = tile.sum;
  } else {
    node.sum = int128{tile.sum_high} * (std::int64_t{1} << 32) + tile.sum_low;
  }
  if constexpr (has_exact_squares<T>) node.m2 = m2_of_integers(count, node.sum, tile.squares);
  node.min_key = tile.min_key;
  node.max_key = tile.max_key;
  node.argmin = index_of(tile.argmin);
  node.argmax = index_of(tile.argmax);
  node.first_nan = index_of(tile.first_nan);
  return node;
}

}  // namespace ooc::reduction
