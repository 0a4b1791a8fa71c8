#include "verify/plain_check.hpp"
#include "verify/plain_sum.hpp"

#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

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

namespace ooc {

using namespace detail;
namespace {

using plain::PlainSum;
using plain::require_same;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr long double largest = std::numeric_limits<double>::max();
constexpr long double smallest = std::numeric_limits<double>::denorm_min();

Scalar number(double value) {
  return value;
}
template <std::integral T>
Scalar number(T value) {
  return int128{value};
}

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

/// Maps indices of elements to indices in row-major order, as in NumPy.
class RowMajor {
 public:
  explicit RowMajor(const Source& source) : arrays_(source.column_major()) {}

  /// `index`: the element's index in the order of the file.
  std::uint64_t index_of(std::uint64_t index) const {
    for (const ColumnMajorArray& array : arrays_) {
      if (index < array.first) return index;
      std::uint64_t rest = index - array.first, place = 0, count = 1;
      for (const std::uint64_t length : array.shape) {
        place = place * length + rest % length;
        rest /= length;
        count *= length;
      }
      if (index - array.first < count) return array.first + place;
    }
    return index;
  }

 private:
  std::vector<ColumnMajorArray> arrays_;
};

/// The findings of one thread. `Value` is double, or the widest integer of its signedness.
template <class Value>
struct alignas(128) Findings {
  static constexpr bool of_floats = std::is_same_v<Value, double>;

  double center = 0;  // `squares` are of distances from it
  std::uint64_t count = 0, nan = 0, first_nan = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t infinite = 0, negative_infinite = 0;
  const RowMajor* places = nullptr;
  Extreme<Value> min{}, max{};
  std::conditional_t<of_floats, PlainSum, int128> sum{};  // exact; of the finite values
  long double magnitude = 0;                              // the sum of their magnitudes
  long double squares = 0;

  std::size_t bytes() const { return sizeof(*this); }

  /// Returns the sum of no values.
  static Scalar zero() { return of_floats ? Scalar{0.0} : Scalar{int128{0}}; }

  // Both treat -0 and +0 as equal.
  static bool less(Value left, Value right) { return left < right; }
  static bool greater(Value left, Value right) { return left > right; }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t first) {
    long double block_magnitude = 0, block_squares = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Value value = plain::value_of(elements[i]);
      const std::uint64_t index = places->index_of(first + i);
      ++count;
      if (value != value) {
        ++nan;
        first_nan = std::min(first_nan, index);
        continue;
      }
      min.see(value, index, less);
      max.see(value, index, greater);
      if constexpr (of_floats) {
        if (std::isinf(value)) {
          ++(value > 0 ? infinite : negative_infinite);
          continue;
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
    magnitude += block_magnitude;
    squares += block_squares;
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
long double gamma(long double roundings, long double unit = 0x1p-53L) {
  return roundings * unit / (1 - roundings * unit);
}

/// True if a sum of terms whose magnitudes add up to `magnitude` may overflow in double precision.
bool may_overflow(long double magnitude) {
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

/// Returns the expected moments. There must be values, and all of them must be finite.
template <class Value>
Moments moments_of(const Findings<Value>& seen) {
  constexpr bool of_floats = Findings<Value>::of_floats;
  const auto values = static_cast<long double>(seen.count - seen.nan);
  const std::uint64_t tiles = (seen.count - 1) / tile_elements + 1;
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
  const auto blocks = static_cast<long double>((seen.count - 1) / plain::block_elements + 1);
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

/// Compares statistics with the findings of the check. Throws Error(verify).
template <class Value>
class Comparison {
 public:
  Comparison(const Source& source, const ReduceOptions& options, const Findings<Value>& seen,
             const Statistics& found)
      : source_(source), options_(options), seen_(seen), found_(found) {}

  void run() const {
    same("count", whole(found_.count), whole(seen_.count));
    same("nan", whole(found_.nan), whole(seen_.nan));
    same("inf", whole(found_.inf), whole(seen_.infinite + seen_.negative_infinite));
    if (seen_.count == 0) return expect(Findings<Value>::zero(), {}, {}, {}, {});
    if (seen_.nan != 0 && options_.nan == NanPolicy::propagate) {
      return expect(nan, nan, whole(seen_.first_nan), nan, whole(seen_.first_nan));
    }
    if (seen_.count == seen_.nan) return expect(0.0, nan, {}, nan, {});
    check_extremes();
    if (seen_.infinite + seen_.negative_infinite != 0) {
      check_infinite();
    } else {
      check_moments();
    }
  }

 private:
  static Scalar whole(std::uint64_t count) { return int128{count}; }
  template <class T>
  static Scalar maybe(const std::optional<T>& value) {
    return value ? number(*value) : Scalar{};
  }

  void same(const std::string& name, const Scalar& found, const Scalar& checked) const {
    require_same(source_, name, found, checked);
  }

  /// Checks results whose moments are all NaN or all empty. The sum may be a number.
  void expect(const Scalar& sum, const Scalar& min, const Scalar& argmin, const Scalar& max,
              const Scalar& argmax) const {
    same("sum", found_.sum, sum);
    same("min", found_.min, min);
    same("argmin", maybe(found_.argmin), argmin);
    same("max", found_.max, max);
    same("argmax", maybe(found_.argmax), argmax);
    const Scalar moment = min;  // NaN, or empty
    same("mean", maybe(found_.mean), moment);
    same("variance", maybe(found_.variance), moment);
    same("stddev", maybe(found_.stddev), moment);
  }

  void check_extremes() const {
    same("min", found_.min, number(seen_.min.value));
    same("argmin", maybe(found_.argmin), whole(seen_.min.index));
    same("max", found_.max, number(seen_.max.value));
    same("argmax", maybe(found_.argmax), whole(seen_.max.index));
  }

  void check_infinite() const {
    // The sum of the finite values may also overflow to an infinity of either sign. The result is
    // then an infinity or NaN, depending on the order; it is only required not to be finite.
    const bool overflows = !options_.exact && may_overflow(seen_.magnitude);
    const double sum =
        (seen_.infinite != 0 ? infinity : 0) - (seen_.negative_infinite != 0 ? infinity : 0);
    if (!overflows || is_finite(found_.sum)) same("sum", found_.sum, sum);
    if (!overflows || is_finite(maybe(found_.mean))) same("mean", maybe(found_.mean), sum);
    same("variance", maybe(found_.variance), nan);
    same("stddev", maybe(found_.stddev), nan);
  }

  void check_moments() const {
    const Moments moments = moments_of(seen_);
    if (options_.exact) {
      check_exact();
    } else {
      if constexpr (Findings<Value>::of_floats) near("sum", found_.sum, moments.sum);
      near("mean", maybe(found_.mean), moments.mean);
    }
    if constexpr (!Findings<Value>::of_floats) same("sum", found_.sum, seen_.sum);
    near("variance", maybe(found_.variance), moments.variance);
    same("stddev", maybe(found_.stddev), std::sqrt(found_.variance.value_or(nan)));
  }

  void check_exact() const {
    PlainSum sum;
    if constexpr (Findings<Value>::of_floats) {
      sum = seen_.sum;
      same("sum", found_.sum, sum.rounded());
    } else {
      sum.add_integer(seen_.sum);
    }
    same("mean", maybe(found_.mean), sum.rounded(seen_.count - seen_.nan));
  }

  static bool is_finite(const Scalar& found) {
    const auto* const real = std::get_if<double>(&found);
    return real == nullptr || std::isfinite(*real);
  }

  void near(const std::string& name, const Scalar& found, const Expected& expected) const {
    if (expected.overflow_allowed && !is_finite(found)) return;
    const auto* const real = std::get_if<double>(&found);
    if (real != nullptr && std::abs(*real - expected.value) <= expected.bound) return;
    throw plain::difference(
        source_, name, found, static_cast<double>(expected.value),
        "rounding explains " + to_string(Scalar{static_cast<double>(expected.bound)}) + " at most");
  }

  const Source& source_;
  const ReduceOptions& options_;
  const Findings<Value>& seen_;
  const Statistics& found_;
};

}  // namespace

void verify_reduce(Coordinator& coordinator, const Source& source, const ReduceOptions& options,
                   const Statistics& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  const double mean = found.mean.value_or(0);
  const RowMajor places(source);
  visit(source.type().value_or(DType{}).element, [&]<class T>(std::type_identity<T>) {
    using Value = decltype(plain::value_of(T{}));
    const Findings<Value> nothing_seen{.center = std::isfinite(mean) ? mean : 0, .places = &places};
    const auto seen = plain::look_at_all<T>(coordinator.options(), wanted, source, nothing_seen);
    Comparison<Value>(source, options, seen, found).run();
  });
}

}  // namespace ooc
