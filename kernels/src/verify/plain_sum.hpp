#pragma once

#include <ooc/reduce.hpp>

#include <cstdint>
#include <vector>

namespace ooc::detail::plain {

/// An exact sum of doubles by the method of J. R. Shewchuk (1997), as in Python's math.fsum: an
/// expansion, that is numbers from small to large that do not overlap and whose sum is the result.
/// They are long doubles, which have 64 bits and a range in which no sum of doubles overflows and
/// no rounding error underflows. It shares nothing with ExactSum, which it verifies.
///
///     PlainSum sum;
///     for (const double term : {1e100, 1.0, -1e100}) sum.add(term);
///     sum.rounded();  // 1
class PlainSum {
 public:
  /// Adds a finite number of at most 64 bits, below 2^1100 in size.
  void add(long double term);

  void add_integer(int128 term);
  void merge(const PlainSum& other);

  /// Returns the sum with a relative error of at most 2^-62.
  long double value() const;

  /// Returns the sum divided by `divisor`, rounded once to the nearest double, ties to even.
  /// Infinite if that is beyond the largest double.
  double rounded(std::uint64_t divisor = 1) const;

 private:
  /// Returns a number less than, equal to or greater than 0 as the sum is less than, equal to or
  /// greater than `bound` * `divisor`.
  int compare(long double bound, std::uint64_t divisor) const;

  /// True if the sum divided by `divisor` rounds to `candidate`, ties to even.
  bool rounds_to(double candidate, std::uint64_t divisor) const;

  void grow(long double term);
  PlainSum in_parts() const;

  /// The value is the sum of all members. Usually the first two suffice, which saves time.
  long double high_ = 0, low_ = 0;
  std::vector<long double> parts_;  // none is 0
};

}  // namespace ooc::detail::plain
