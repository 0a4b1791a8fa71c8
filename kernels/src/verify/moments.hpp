#pragma once

#include "verify/plain_check.hpp"
#include "verify/plain_sum.hpp"

#include <ooc/reduce.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Exact results are computed again by definition, and must be equal. With ReduceOptions::exact, sum
// and mean must be equal too. Other results may differ within the rounding of reduce().
//
// Let there be n values x, u = 2^-53, g(k) = k u / (1 - k u), and let tiles be merged in D levels.
// A term of a sum passes 255 additions in its column of a tile, 8 between the columns and D between
// the tiles. So (N. J. Higham, Accuracy and Stability of Numerical Algorithms, chapter 4)
//
//     |sum - exact|  <=  g(263 + D) * A,     A: the sum of |x|,
//
// and sums of integers have no error. The mean has this error over n, and 3 roundings more.
//
// The variance comes from two kinds of squares, whose exact sum is n times the variance V: of the
// distances of values from the mean of their tile, and of the distance between the means of two
// neighbours, times a weight w, which is at most the smaller number of values. Regard them as the
// squared components of a vector of length sqrt(n V). Each component has an error from that of the
// means, which are sums divided by numbers of values. For a part with m values whose squares add up
// to Q this is g(265 + D) A / m <= g sqrt(Q / m). Its m distances have this error in common, or it
// enters times sqrt(w) <= sqrt(m): g sqrt(Q) in length either way, and for a merge, which has two
// means, g sqrt(2 Q) for the Q of both. (8-byte integers are rounded too, by u |x| each, but their
// sums are not.) The squares of these lengths add up, over the tiles and over each of the D levels,
// to at most g^2 (1 + 2 D) times the Q of all, which is n rms^2. Subtracting, squaring, weighting
// and adding take at most 270 + 2 D roundings, relative to the squares. So with g = g(270 + 2 D),
// and sqrt(1 + 2 D) (1 + g) < 2 sqrt(1 + D),
//
//     |stddev - sqrt(V)|  <=  e  =  g (sqrt(V) + 2 sqrt(1 + D) rms),
//     |variance - V|      <=  e (2 sqrt(V) + e).
//
// Underflow and the rounding of the check itself, in 64 bits, are added. If numbers are so large
// that their sums may overflow, a result that is not finite passes.
//
// The columns of rows have tiles of at most 1024 rows, in which a term passes 36 additions. So the
// same bounds hold for them.

namespace ooc::detail::plain {

inline constexpr long double largest = std::numeric_limits<double>::max();
inline constexpr long double smallest = std::numeric_limits<double>::denorm_min();

/// The first one of the smallest or of the largest values.
template <class Value>
struct Extreme {
  bool any = false;
  Value value{};
  std::uint64_t index = 0;

  /// `better(a, b)`: true if a replaces b.
  template <class Better>
  void see(Value other, std::uint64_t other_index, Better better) {
    const bool earlier = !better(value, other) && other_index < index;
    if (any && !better(other, value) && !earlier) return;
    *this = {true, other, other_index};
  }
};

/// The findings of one thread about all elements, or about those of a column. `Value` is double, or
/// the widest integer of its signedness.
template <class Value>
struct Findings {
  static constexpr bool of_floats = std::is_same_v<Value, double>;

  double center = 0;  // `squares` are of distances from it
  std::uint64_t count = 0, nan = 0, first_nan = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t infinite = 0, negative_infinite = 0;
  Extreme<Value> min{}, max{};
  std::conditional_t<of_floats, PlainSum, int128> sum{};  // exact; of the finite values
  long double magnitude = 0;                              // the sum of their magnitudes
  long double squares = 0;
  long double block_magnitude = 0, block_squares = 0;  // of the elements since end_block()

  /// Returns the sum of no values.
  static Scalar zero() { return of_floats ? Scalar{0.0} : Scalar{int128{0}}; }

  // Both treat -0 and +0 as equal.
  static bool less(Value left, Value right) { return left < right; }
  static bool greater(Value left, Value right) { return left > right; }

  template <class T>
  void add(T element, std::uint64_t index) {
    const Value value = plain::value_of(element);
    ++count;
    if (value != value) {
      ++nan;
      first_nan = std::min(first_nan, index);
      return;
    }
    min.see(value, index, less);
    max.see(value, index, greater);
    if constexpr (of_floats) {
      if (std::isinf(value)) {
        ++(value > 0 ? infinite : negative_infinite);
        return;
      }
      sum.add(value);
    } else {
      sum += value;
    }
    const auto wide = static_cast<long double>(value);
    const long double distance = wide - center;
    block_magnitude += std::abs(wide);
    block_squares += distance * distance;
  }

  /// Must be called after the elements of each block, so that sums have few roundings.
  void end_block() {
    magnitude += std::exchange(block_magnitude, 0);
    squares += std::exchange(block_squares, 0);
  }

  void merge(const Findings& other) {
    count += other.count;
    nan += other.nan;
    first_nan = std::min(first_nan, other.first_nan);
    infinite += other.infinite;
    negative_infinite += other.negative_infinite;
    if (other.min.any) min.see(other.min.value, other.min.index, less);
    if (other.max.any) max.see(other.max.value, other.max.index, greater);
    if constexpr (of_floats) {
      sum.merge(other.sum);
    } else {
      sum += other.sum;
    }
    magnitude += other.magnitude;
    squares += other.squares;
  }
};

/// Bound on the relative error of `roundings` roundings in a product, or in a sum of positive
/// terms.
inline long double gamma(long double roundings, long double unit = 0x1p-53L) {
  return roundings * unit / (1 - roundings * unit);
}

/// True if a sum of terms whose magnitudes add up to `magnitude` may overflow in double precision.
inline bool may_overflow(long double magnitude) {
  constexpr long double rounded_up = 1 + 0x1p-40L;
  return magnitude * rounded_up >= largest;
}

/// The expected value of a result, and the largest difference from it that rounding explains.
struct Expected {
  long double value, bound;
  bool overflow_allowed;
};

struct Moments {
  Expected sum, mean, variance;
};

/// How the elements were added: by reduce() in tiles of so many, by the check in so many blocks.
struct Addition {
  std::uint64_t tile, blocks;
};

/// Returns the expected moments. There must be values, and all of them must be finite.
template <class Value>
Moments moments_of(const Findings<Value>& seen, const Addition& addition) {
  constexpr bool of_floats = Findings<Value>::of_floats;
  const auto values = static_cast<long double>(seen.count - seen.nan);
  const std::uint64_t tiles = (seen.count - 1) / addition.tile + 1;
  const auto levels = static_cast<long double>(std::bit_width(tiles - 1));

  Moments moments{};
  Expected& sum = moments.sum;
  if constexpr (of_floats) {
    sum.value = seen.sum.value();
    sum.bound = gamma(264 + levels) * seen.magnitude;  // one rounding for the check
    sum.overflow_allowed = may_overflow(seen.magnitude);
  } else {
    sum.value = static_cast<long double>(seen.sum);
  }
  Expected& mean = moments.mean;
  mean.value = sum.value / values;
  mean.bound = (sum.bound + gamma(4) * (std::abs(sum.value) + sum.bound)) / values + smallest;
  mean.overflow_allowed = sum.overflow_allowed;

  // The check sums squared distances from a number near the mean.
  const long double spread = seen.squares / values;
  const long double offset = mean.value - seen.center;
  const auto blocks = static_cast<long double>(addition.blocks);
  const long double of_check = gamma(plain::block_elements + blocks + 8, 0x1p-64L) * spread +
                               0x1p-60L * std::abs(mean.value) * std::abs(offset) +
                               0x1p-120L * mean.value * mean.value;
  Expected& variance = moments.variance;
  variance.value = std::max(0.0L, spread - offset * offset);
  const long double deviation = std::sqrt(variance.value + of_check);
  const long double rms = std::hypot(deviation, mean.value) + smallest;
  const long double error = gamma(270 + 2 * levels) * (deviation + 2 * std::sqrt(1 + levels) * rms);
  variance.bound = error * (2 * deviation + error) + (levels + 3) * smallest + of_check;
  // The squared distance of two means is at most twice what is added for it.
  const long double squares = 2 * values * (deviation + error) * (deviation + error);
  variance.overflow_allowed = sum.overflow_allowed || may_overflow(squares);
  return moments;
}

}  // namespace ooc::detail::plain
