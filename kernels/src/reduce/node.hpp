#pragma once

#include "reduce/places.hpp"
#include "reduce/tiles.hpp"

#include <ooc/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ooc::detail::reduction {

/// The number of infinite elements. For integers it takes no space, since it is always 0.
struct InfiniteCount {
  std::uint64_t inf = 0;
};
struct NoInfinities {
  static constexpr std::uint64_t inf = 0;
};

/// The statistics of neighbouring tiles: a node of the tree of tiles. Indices count from the start
/// of the dataset; for an array in Fortran order, they are places in row-major order.
template <class T>
struct Node : std::conditional_t<is_floating<T>, InfiniteCount, NoInfinities> {
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

  constexpr std::uint64_t values() const { return count - nan; }
  constexpr double mean() const { return static_cast<double>(sum) / static_cast<double>(values()); }

  constexpr void merge_right(const Node& right) {
    first_nan = std::min(first_nan, right.first_nan);
    if (values() == 0) {
      take_values(right);
    } else if (right.values() != 0) {
      merge_values(right);
    }
    count += right.count;
    nan += right.nan;
    if constexpr (is_floating<T>) this->inf += right.inf;
  }

 private:
  constexpr void take_values(const Node& right) {
    sum = right.sum;
    m2 = right.m2;
    take_minimum(right);
    take_maximum(right);
  }

  /// Merges by the formula of Chan, Golub and LeVeque (1979).
  constexpr void merge_values(const Node& right) {
    const auto left_values = static_cast<double>(values());
    const auto right_values = static_cast<double>(right.values());
    const double delta = right.mean() - mean();
    const double weight = left_values * right_values / (left_values + right_values);
    m2 = (m2 + right.m2) + (delta * delta) * weight;
    sum += right.sum;
    // Of equal extremes the first counts. In Fortran order it may be in the right node.
    const std::uint64_t min = rank_of<T>(min_key), right_min = rank_of<T>(right.min_key);
    if (right_min < min || (right_min == min && right.argmin < argmin)) take_minimum(right);
    const std::uint64_t max = rank_of<T>(max_key), right_max = rank_of<T>(right.max_key);
    if (right_max > max || (right_max == max && right.argmax < argmax)) take_maximum(right);
  }

  constexpr void take_minimum(const Node& right) {
    min_key = right.min_key;
    argmin = right.argmin;
  }
  constexpr void take_maximum(const Node& right) {
    max_key = right.max_key;
    argmax = right.argmax;
  }
};

/// True if some elements can have these statistics. Their indices are not checked: in Fortran order
/// they may be anywhere in the data, and a node that is not the root may lack them (see CpuLane).
template <class T>
bool is_possible(const Node<T>& node) {
  if (node.nan > node.count || (node.nan != 0 && !is_floating<T>)) return false;
  if (node.inf > node.values()) return false;
  if (node.nan == 0 && node.first_nan != nowhere_at_all) return false;
  return node.values() == 0 || rank_of<T>(node.min_key) <= rank_of<T>(node.max_key);
}

/// Returns the sum of squared distances of integers from their mean: an exact integer divided by
/// `count`.
constexpr double m2_of_integers(std::uint64_t count, int128 sum, std::uint64_t squares) {
  const int128 numerator = int128{count} * squares - sum * sum;
  return static_cast<double>(numerator) / static_cast<double>(count);
}

/// Returns the leaf for a tile. `first`: index of the tile's first element.
template <class T>
constexpr Node<T> node_of(const TileResult& tile, std::uint64_t first, std::size_t count) {
  const auto index_of = [first](std::uint32_t index) {
    return index == nowhere ? nowhere_at_all : first + index;
  };
  Node<T> node;
  node.count = count;
  node.nan = tile.nan;
  node.m2 = tile.m2;
  if constexpr (is_floating<T>) {
    node.sum = tile.sum;
    node.inf = tile.inf;
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

/// Like the leaf above, for a tile of data in Fortran order.
template <class T>
Node<T> node_of(const TileResult& tile, const TilePlaces& places, std::size_t count) {
  Node<T> node = node_of<T>(tile, 0, count);
  node.argmin = places.min.place;
  node.argmax = places.max.place;
  node.first_nan = places.first_nan;
  if (places.min.place != nowhere_at_all) node.min_key = places.min.key;
  if (places.max.place != nowhere_at_all) node.max_key = places.max.key;
  return node;
}

}  // namespace ooc::detail::reduction
