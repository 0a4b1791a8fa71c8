#include "distinct/sketch.hpp"

#include <ooc/distinct.hpp>

#include <cmath>
#include <limits>

// Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6.

namespace ooc::detail::distincts {

namespace {

double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x, before = 0;
  for (double factor = 1; sum != before; factor *= 2) {
    x *= x;
    before = sum;
    sum += x * factor;
  }
  return sum;
}

double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x, before = 0;
  for (double factor = 0.5; sum != before; factor /= 2) {
    x = std::sqrt(x);
    before = sum;
    sum -= (1 - x) * (1 - x) * factor;
  }
  return sum / 3;
}

}  // namespace

double Sketch::estimate() const {
  std::array<std::size_t, largest_rank + 1> having{};  // registers that have each rank
  for (const std::uint8_t rank : ranks_) ++having[rank];
  constexpr double all = registers, limit = 0.7213475204444817;  // 1 / (2 ln 2)
  double sum = all * tau(1 - static_cast<double>(having[largest_rank]) / all);
  for (std::uint32_t rank = hash_bits_left; rank >= 1; --rank) {
    sum = 0.5 * (sum + static_cast<double>(having[rank]));
  }
  sum += all * sigma(static_cast<double>(having[0]) / all);
  return limit * all * all / sum;
}

bool is_likely(double values, double estimate) {
  constexpr double few = 8;
  return std::abs(values - estimate) <= 6 * distinct_relative_error * values + few;
}

}  // namespace ooc::detail::distincts
