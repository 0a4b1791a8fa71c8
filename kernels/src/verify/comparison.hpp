#pragma once

#include "verify/moments.hpp"
#include "verify/plain_check.hpp"
#include "verify/plain_sum.hpp"

#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ooc::detail::plain {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Scalar number(double value) {
  return value;
}
template <std::integral T>
Scalar number(T value) {
  return int128{value};
}

/// Compares statistics with the findings of the check. Throws Error(verify).
template <class Value>
class Comparison {
 public:
  /// `prefix`: of the names of results in messages. `only`: the name of the only result that is
  /// there; empty if all are.
  Comparison(const Source& source, const ReduceOptions& options, const Findings<Value>& seen,
             const Addition& addition, const Statistics& found, std::string prefix = {},
             std::string_view only = {})
      : source_(source),
        options_(options),
        seen_(seen),
        addition_(addition),
        found_(found),
        prefix_(std::move(prefix)),
        only_(only) {}

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

  bool is_there(std::string_view name) const { return only_.empty() || only_ == name; }

  void same(const std::string& name, const Scalar& found, const Scalar& checked) const {
    if (is_there(name)) require_same(source_, prefix_ + name, found, checked);
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
    const Moments moments = moments_of(seen_, addition_);
    if (options_.exact) {
      check_exact();
    } else {
      if constexpr (Findings<Value>::of_floats) near("sum", found_.sum, moments.sum);
      near("mean", maybe(found_.mean), moments.mean);
    }
    if constexpr (!Findings<Value>::of_floats) same("sum", found_.sum, seen_.sum);
    near("variance", maybe(found_.variance), moments.variance);
    if (is_there("variance")) {
      same("stddev", maybe(found_.stddev), std::sqrt(found_.variance.value_or(nan)));
    } else {
      near("stddev", maybe(found_.stddev), root_of(moments.variance));
    }
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

  /// Returns the square root of a variance V, and the largest difference of a rounded root s from
  /// it: |s - sqrt(V)| = |s^2 - V| / (s + sqrt(V)), which is at most the root of |s^2 - V|, too.
  static Expected root_of(const Expected& variance) {
    const long double root = std::sqrt(variance.value);
    const long double farthest = std::sqrt(variance.bound);
    const long double bound = root > farthest ? variance.bound / root : farthest;
    return {root, bound + 0x1p-52L * (root + bound), variance.overflow_allowed};
  }

  static bool is_finite(const Scalar& found) {
    const auto* const real = std::get_if<double>(&found);
    return real == nullptr || std::isfinite(*real);
  }

  void near(const std::string& name, const Scalar& found, const Expected& expected) const {
    if (!is_there(name) || (expected.overflow_allowed && !is_finite(found))) return;
    const auto* const real = std::get_if<double>(&found);
    if (real != nullptr && std::abs(*real - expected.value) <= expected.bound) return;
    throw plain::difference(
        source_, prefix_ + name, found, static_cast<double>(expected.value),
        "rounding explains " + to_string(Scalar{static_cast<double>(expected.bound)}) + " at most");
  }

  const Source& source_;
  const ReduceOptions& options_;
  const Findings<Value>& seen_;
  const Addition& addition_;
  const Statistics& found_;
  std::string prefix_;
  std::string_view only_;
};

}  // namespace ooc::detail::plain
