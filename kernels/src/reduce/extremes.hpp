#pragma once

#include "reduce/columns.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

// The search for extremes that are known, in a view of elements: `size`, at(index), and
// find(predicate), which returns the first index that matches. Always inlined, as columns.hpp is.

namespace ooc::detail::reduction {

struct Located {
  std::uint64_t key;
  std::uint32_t index = nowhere;
};

/// Finds the first index of a minimum or maximum, and the element there, if `may_matter(rank)` is
/// true. The element may be the other zero than `value`: both are equal. This third loop over a
/// tile is rare, since few tiles have a new extreme of their lane.
template <class View, class T, class MayMatter>
OOC_INLINE Located locate(const View& view, T value, MayMatter may_matter) {
  const std::uint64_t key = order_key(value);
  if (!may_matter(rank_of<T>(key))) return {key};
  const std::uint32_t index = view.find([value](T element) OOC_ALWAYS { return element == value; });
  return {order_key(view.at(index)), index};
}

/// Counts the infinities of a view. If neither extreme is infinite, there are none.
template <class T, class View>
OOC_INLINE std::uint32_t count_infinities(const View& view, std::uint64_t min_key,
                                          std::uint64_t max_key) {
  std::uint32_t count = 0;
  if constexpr (is_floating<T>) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if (min_key != order_key(-infinity) && max_key != order_key(infinity)) return 0;
    for (std::size_t i = 0; i < view.size; ++i) {
      count += view.at(i) == infinity || view.at(i) == -infinity ? 1u : 0u;
    }
  }
  return count;
}

/// Finds the places of `min` and `max`, the extremes of the elements that are not NaN, and counts
/// infinities. `result.nan` must be set.
template <class View, class T>
OOC_INLINE void locate_extremes(const View& view, T min, T max, SeenExtremes& seen,
                                TileResult& result) {
  if (result.nan == view.size) return;
  const Located least = locate(view, min, [&seen](std::uint64_t rank) OOC_ALWAYS {
    return !seen.any || rank < seen.min_rank;
  });
  const Located most = locate(view, max, [&seen](std::uint64_t rank) OOC_ALWAYS {
    return !seen.any || rank > seen.max_rank;
  });
  result.min_key = least.key;
  result.max_key = most.key;
  result.argmin = least.index;
  result.argmax = most.index;
  result.inf = count_infinities<T>(view, least.key, most.key);
  if (least.index != nowhere) seen.min_rank = rank_of<T>(least.key);
  if (most.index != nowhere) seen.max_rank = rank_of<T>(most.key);
  seen.any = true;
}

}  // namespace ooc::detail::reduction
