#pragma once

#include <ooc/quantile.hpp>

#include <cstdint>

// The methods of numpy.quantile: which elements a quantile depends on, and how.

namespace ooc::detail::quantiles {

/// True if the quantile is an element of the data, which is not converted.
constexpr bool takes_element(QuantileMethod method) {
  return method == QuantileMethod::lower || method == QuantileMethod::higher ||
         method == QuantileMethod::nearest || method == QuantileMethod::inverted_cdf;
}

/// The place of a quantile among the sorted values.
struct Position {
  std::uint64_t lower, upper;  // indices of the values beside it; equal if it is at one of them
  double weight;               // of the upper one, as NumPy computes it, so not always 0 to 1
};

/// Returns the position of a quantile among so many values, at least one.
Position position_of(QuantileMethod method, double q, std::uint64_t values);

/// Returns the value between two others, rounded as NumPy does it. This is not finite between
/// infinities.
double between(double lower, double upper, double weight);

}  // namespace ooc::detail::quantiles
