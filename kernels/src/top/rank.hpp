#pragma once

#include "histogram/key_bins.hpp"

#include <ooc/dtype.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// The order of top(). Both backends compare ranks, so the best values of either direction are the
// least ranks, and NaN are behind all values.

namespace ooc::detail::tops {

/// The type of ranks of T: as wide as the element, so that loops have as many lanes.
template <class T>
using Rank = binning::BitsOf<T>;

/// Maps elements to ranks and back: the best value of all that T has is rank 0.
template <class T>
struct Ranking {
  Rank<T> flip;   // bits of keys to invert: all if the largest values are the best
  Rank<T> first;  // key of the lowest value; the complement of the highest one's
  Rank<T> last;   // rank of the worst value; those of NaN are larger

  explicit constexpr Ranking(bool smallest)
      : flip(smallest ? Rank<T>{0} : static_cast<Rank<T>>(~Rank<T>{0})),
        first(lowest_key()),
        last(static_cast<Rank<T>>(~first - first)) {}

  constexpr Rank<T> of(T element) const {
    return static_cast<Rank<T>>((binning::key_of(element) ^ flip) - first);
  }
  constexpr T element(Rank<T> rank) const {
    return binning::element_of<T>(static_cast<Rank<T>>(static_cast<Rank<T>>(rank + first) ^ flip));
  }

  /// The key of minus infinity, or of the lowest integer.
  static constexpr Rank<T> lowest_key() {
    if constexpr (!is_floating<T>) return 0;
    constexpr int fraction_bits = std::is_same_v<T, double>    ? 52
                                  : std::is_same_v<T, float>   ? 23
                                  : std::is_same_v<T, Float16> ? 10
                                                               : 7;
    // Only infinities and NaN have all bits of sign and exponent set, or none in their keys.
    return static_cast<Rank<T>>((std::uint64_t{1} << fraction_bits) - 1);
  }
};

/// An element that may be one of the best.
struct Candidate {
  std::uint64_t rank = 0;
  std::uint64_t place = 0;  // its index in the dataset

  /// The strict order of candidates: of equal values, the first one is better.
  constexpr bool is_better_than(const Candidate& other) const {
    return rank != other.rank ? rank < other.rank : place < other.place;
  }
};

constexpr bool is_better(const Candidate& one, const Candidate& other) {
  return one.is_better_than(other);
}

/// Keeps the best k, in any order, with the worst of them at the end if there are k.
inline void keep_best(std::vector<Candidate>& candidates, std::size_t k) {
  if (candidates.size() < k) return;
  const auto worst = candidates.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(candidates.begin(), worst, candidates.end(), is_better);
  candidates.resize(k);
}

}  // namespace ooc::detail::tops
