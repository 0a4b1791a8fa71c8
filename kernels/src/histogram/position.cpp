#include "histogram/position.hpp"

#include <algorithm>
#include <cmath>

namespace ooc::detail::quantiles {

namespace {

/// The place of the quantile among `n` values, counted from 0, by the parameters of Hyndman and Fan
/// (1996), in NumPy's order of operations.
double virtual_index(double n, double q, double alpha, double beta) {
  return n * q + (alpha + q * (1 - alpha - beta)) - 1;
}

double virtual_index(QuantileMethod method, double n, double q) {
  constexpr double third = 1 / 3.0, three_eighths = 3 / 8.0;
  switch (method) {
    case QuantileMethod::linear: return (n - 1) * q;
    case QuantileMethod::lower: return std::floor((n - 1) * q);
    case QuantileMethod::higher: return std::ceil((n - 1) * q);
    case QuantileMethod::nearest: return std::nearbyint((n - 1) * q);  // ties to even
    case QuantileMethod::midpoint: return 0.5 * (std::floor((n - 1) * q) + std::ceil((n - 1) * q));
    case QuantileMethod::inverted_cdf: return std::max(std::ceil(n * q - 1), 0.0);
    case QuantileMethod::averaged_inverted_cdf: return n * q - 1;
    case QuantileMethod::interpolated_inverted_cdf: return virtual_index(n, q, 0, 1);
    case QuantileMethod::hazen: return virtual_index(n, q, 0.5, 0.5);
    case QuantileMethod::weibull: return virtual_index(n, q, 0, 0);
    case QuantileMethod::median_unbiased: return virtual_index(n, q, third, third);
    case QuantileMethod::normal_unbiased: return virtual_index(n, q, three_eighths, three_eighths);
  }
  __builtin_unreachable();
}

/// Returns the weight of the upper value, given the distance of the index from the lower one.
double weight_for(QuantileMethod method, double index, double distance) {
  if (method == QuantileMethod::midpoint) return index == std::floor(index) ? 0 : 0.5;
  if (method == QuantileMethod::averaged_inverted_cdf) return distance == 0 ? 0.5 : 1;
  return distance;
}

}  // namespace

Position position_of(QuantileMethod method, double q, std::uint64_t values) {
  const std::uint64_t last = values - 1;
  const double n = static_cast<double>(values);
  const double index = virtual_index(method, n, q);
  // NumPy gives the last value the index -1, from which the distance is taken.
  if (index >= n - 1) return {last, last, weight_for(method, index, index + 1)};
  if (index < 0) return {0, 0, weight_for(method, index, index)};
  const double below = std::floor(index);
  const auto lower = std::min(static_cast<std::uint64_t>(below), last);
  if (takes_element(method)) return {lower, lower, 0};
  return {lower, std::min(lower + 1, last), weight_for(method, index, index - below)};
}

double between(double lower, double upper, double weight) {
  const double difference = upper - lower;
  return weight >= 0.5 ? upper - difference * (1 - weight) : lower + difference * weight;
}

}  // namespace ooc::detail::quantiles
