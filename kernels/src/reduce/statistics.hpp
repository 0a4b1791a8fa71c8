#pragma once

#include "reduce/exact_sum.hpp"
#include "reduce/node.hpp"

#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

// From the root of a tree of tiles to the statistics that users get. Only files that must not fuse
// products and sums include this.

namespace ooc::detail::reduction {

inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Replaces any NaN by one fixed NaN, since the bits of NaN depend on the processor.
inline double canonical(double value) {
  return std::isnan(value) ? quiet_nan : value;
}

template <class T>
Scalar value_from_key(std::uint64_t key) {
  if constexpr (is_floating<T>) {
    return floating_from_key(key);
  } else if constexpr (std::is_signed_v<T>) {
    return int128{static_cast<std::int64_t>(key ^ top_bit)};
  } else {
    return int128{key};
  }
}

/// Sets the statistics if all elements are NaN, or if a NaN propagates.
inline void set_nan(Statistics& result, double sum) {
  result.sum = sum;
  result.min = result.max = quiet_nan;
  result.mean = result.variance = result.stddev = quiet_nan;
}

template <class T>
void set_values(Statistics& result, const Node<T>& root) {
  if constexpr (is_floating<T>) {
    result.sum = canonical(root.sum);
  } else {
    result.sum = root.sum;
  }
  result.min = value_from_key<T>(root.min_key);
  result.max = value_from_key<T>(root.max_key);
  result.argmin = root.argmin;
  result.argmax = root.argmax;
  const double variance = root.m2 / static_cast<double>(root.values());
  result.mean = canonical(root.mean());
  result.variance = canonical(variance);
  result.stddev = canonical(std::sqrt(variance));
}

/// Rounds sum and mean from the exact sum of the finite elements. Extremes show infinities.
template <class T>
void set_exact(Statistics& result, const Node<T>& root, ExactSum sum) {
  if constexpr (is_floating<T>) {
    const double min = floating_from_key(root.min_key);
    const double max = floating_from_key(root.max_key);
    if (std::isinf(min) || std::isinf(max)) {
      result.mean = canonical(min + max);
      result.sum = *result.mean;
      return;
    }
    result.sum = sum.rounded();
  } else {
    sum.add(root.sum);
  }
  result.mean = sum.rounded(root.values());
}

/// Throws Error(bad_input) unless the places are known, which is so unless a part was forged.
inline void require_places(std::initializer_list<std::uint64_t> places) {
  if (std::ranges::find(places, nowhere_at_all) == places.end()) return;
  throw Error(ErrorKind::bad_input, "a saved partial result does not say where its extremes are");
}

/// Returns the statistics of all elements, given the root of their tree. `sum` is used if
/// ReduceOptions::exact.
template <class T>
Statistics statistics_of(const Node<T>& root, const ExactSum& sum, const ReduceOptions& options) {
  Statistics result;
  result.count = root.count;
  result.nan = root.nan;
  result.inf = root.inf;
  if (root.nan > 0 && options.nan == NanPolicy::propagate) {
    set_nan(result, quiet_nan);
    require_places({root.first_nan});
    result.argmin = result.argmax = root.first_nan;
  } else if (root.values() == 0) {
    set_nan(result, 0.0);
  } else {
    require_places({root.argmin, root.argmax});
    set_values(result, root);
    if (options.exact) set_exact(result, root, sum);
  }
  return result;
}

/// Returns the statistics of no elements.
template <class T>
Statistics statistics_of_nothing() {
  Statistics nothing;
  nothing.sum = typename Node<T>::Sum{};
  return nothing;
}

}  // namespace ooc::detail::reduction
