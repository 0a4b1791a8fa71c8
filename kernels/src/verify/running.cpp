#include <ooc/running.hpp>

#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "verify/plain_check.hpp"
#include "verify/plain_sum.hpp"

// Check of running(): both files are read in step, and each result is computed from the one before
// it or, for sums of floats, by the definition, which is written down here once more.

namespace ooc {

using namespace detail;

namespace {

using plain::value_of;

/// Computes sums of integers, one after another.
template <class T>
class PlainIntegerSums {
 public:
  using Result = std::conditional_t<std::is_same_v<T, std::uint64_t>, T, std::int64_t>;

  Result add(T element) {
    sum_ += static_cast<std::uint64_t>(value_of(element));
    return static_cast<Result>(sum_);
  }

 private:
  std::uint64_t sum_ = 0;
};

/// Finds the best element so far.
template <class T>
class PlainExtremes {
 public:
  using Result = T;

  explicit PlainExtremes(bool largest) : largest_(largest) {}

  T add(T element) {
    const auto value = value_of(element);
    const bool is_first = std::exchange(is_first_, false);
    if (is_first || is_better(value)) {
      best_ = element;
      best_value_ = value;
    }
    return best_;
  }

 private:
  using Value = decltype(value_of(T{}));

  bool is_better(Value value) const {
    if (best_value_ != best_value_) return false;  // NaN
    if (value != value) return true;
    return largest_ ? value > best_value_ : value < best_value_;
  }

  bool largest_;
  bool is_first_ = true;
  T best_{};
  Value best_value_{};
};

/// Computes sums of floats by their definition.
template <class T>
class PlainFloatSums {
 public:
  using Result = double;

  double add(T element) {
    const double value = value_of(element);
    in_row_ += value;
    const double in_tile = rows_ + in_row_;
    const auto [sum, lost] = before_and(in_tile);
    const double result = std::isnan(sum) ? plain_nan() : sum;
    remember(value, result);
    if (++place_ % 256 == 0) {
      rows_ = in_tile;
      in_row_ = 0;
    }
    if (place_ % 65536 == 0) {
      tiles_ = sum;
      tiles_lost_ = lost;
      rows_ = 0;
    }
    return result;
  }

  /// Returns the sum so far, almost exactly.
  long double nearly_exact() const { return exact_.value(); }

  /// Returns how far from that the last result may be.
  long double bound() const {
    constexpr long double half_place = 0x1p-53L;
    return half_place * (std::abs(nearly_exact()) + 512 * absolute_);
  }

  /// False if a sum has overflowed, or an element was infinite or NaN.
  bool is_finite() const { return is_finite_; }
  double last() const { return last_; }

  /// True if no order of additions gives an infinity from finite numbers.
  bool must_be_finite() const { return !has_special_ && absolute_ < 0x1p1023L; }

 private:
  struct Sum {
    double sum, lost;
  };

  static double plain_nan() {
    const std::uint64_t bits = std::uint64_t{0x7ff8} << 48;
    double nan = 0;
    std::memcpy(&nan, &bits, sizeof nan);
    return nan;
  }

  /// T. J. Dekker's sum, which needs the larger number first.
  static Sum exactly(double a, double b) {
    if (std::abs(a) < std::abs(b)) std::swap(a, b);
    const double sum = a + b;
    const double lost = b - (sum - a);
    return {sum, std::isfinite(lost) ? lost : 0};
  }

  Sum before_and(double in_tile) const {
    const Sum first = exactly(tiles_, in_tile);
    return exactly(first.sum, first.lost + tiles_lost_);
  }

  void remember(double value, double result) {
    last_ = result;
    is_finite_ = is_finite_ && std::isfinite(result);
    has_special_ = has_special_ || !std::isfinite(value);
    if (has_special_) return;
    absolute_ += std::abs(static_cast<long double>(value));
    exact_.add(value);
  }

  std::uint64_t place_ = 0;
  double in_row_ = 0, rows_ = 0;       // in this row, and in the rows before it
  double tiles_ = 0, tiles_lost_ = 0;  // in the tiles before
  double last_ = 0;
  bool is_finite_ = true, has_special_ = false;
  plain::PlainSum exact_;
  long double absolute_ = 0;
};

template <class V>
Scalar scalar_of(V value) {
  if constexpr (is_floating<V>) {
    return value_of(value);
  } else {
    return int128{value};
  }
}

/// Compares results with those that `Sums` computes.
template <class T, class Sums>
class StepCheck {
 public:
  using V = typename Sums::Result;

  StepCheck(Sums sums, const Source& source, const Source& found, bool exclusive)
      : sums_(std::move(sums)), source_(source), found_(found), exclusive_(exclusive) {}

  void take(std::span<const T> elements, std::uint64_t first) {
    results_.resize(elements.size());
    const auto bytes = std::as_writable_bytes(std::span(results_));
    plain::read_elements(found_, first, sizeof(V), bytes);
    plain::decode(found_.type().value_or(DType{}), bytes);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const V before = std::exchange(last_, sums_.add(elements[i]));
      const V expected = exclusive_ ? before : last_;
      if (std::memcmp(&expected, &results_[i], sizeof expected) == 0) continue;
      throw plain::difference(found_, "the value at index " + std::to_string(first + i),
                              scalar_of(results_[i]), scalar_of(expected),
                              "both ways must give the same bits");
    }
    if constexpr (std::is_same_v<Sums, PlainFloatSums<T>>) check_error(first + elements.size());
  }

 private:
  /// Compares the last sum with one that is nearly exact.
  void check_error(std::uint64_t count) const {
    if (!sums_.is_finite()) {
      if (!sums_.must_be_finite()) return;
    } else if (std::abs(sums_.last() - sums_.nearly_exact()) <= sums_.bound()) {
      return;
    }
    throw plain::difference(
        source_, "the sum of the first " + std::to_string(count) + " values", sums_.last(),
        static_cast<double>(sums_.nearly_exact()),
        "rounding explains " + to_string(Scalar{static_cast<double>(sums_.bound())}) + " at most");
  }

  Sums sums_;
  const Source& source_;
  const Source& found_;
  bool exclusive_;
  V last_{};  // up to the element before
  std::vector<V> results_;
};

template <class T, class Sums>
void check_steps(Sums sums, const Source& source, const Source& found,
                 const RunningOptions& options, const PassOptions& wanted) {
  StepCheck<T, Sums> steps(std::move(sums), source, found, options.exclusive);
  const std::uint64_t first_of_all = source.bytes_before() / source.element_bytes();
  constexpr std::size_t one_thread = 1;
  plain::read_all(wanted, source, one_thread,
                  [&](std::size_t, std::span<const std::byte> elements, std::uint64_t first) {
                    const auto* const values = reinterpret_cast<const T*>(elements.data());
                    steps.take(std::span(values, elements.size() / sizeof(T)),
                               first - first_of_all);
                  });
}

}  // namespace

void verify_running(Coordinator& coordinator, const Source& source, const Source& found,
                    const RunningOptions& options, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  plain::require_same(found, "the number of elements", int128{found.elements()},
                      int128{source.elements()});
  const ElementType made = running_type(source.element(), options.value);
  if (found.element() != made) {
    throw Error(ErrorKind::usage, found.name() + ": holds " +
                                      std::string(name_of(found.element())) +
                                      ", but the results are " + std::string(name_of(made)));
  }
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    if (options.value != RunningValue::sum) {
      const bool largest = options.value == RunningValue::maximum;
      check_steps<T>(PlainExtremes<T>(largest), source, found, options, wanted);
    } else if constexpr (is_floating<T>) {
      check_steps<T>(PlainFloatSums<T>(), source, found, options, wanted);
    } else {
      check_steps<T>(PlainIntegerSums<T>(), source, found, options, wanted);
    }
  });
  found.check_unchanged();
}

}  // namespace ooc
