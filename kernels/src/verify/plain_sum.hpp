#pragma once

#include <ooc/kernels/number.hpp>

#include <cstdint>
#include <vector>

namespace ooc::plain {

/// An exact sum of doubles, made as J. R. Shewchuk (1997) does and Python's math.fsum: numbers from
/// small to large that do not overlap, whose sum it is. They are of 64 bits and a range in which no
/// sum of doubles overflows and nothing that is lost in an addition underflows. It has nothing in
/// common with the ExactSum that it checks.
///
///     PlainSum sum;
///     for (const double term : {1e100, 1.0, -1e100}) sum.add(term);
///     sum.rounded();  // 1
class PlainSum {
 public:
  /// Of 64 bits at most, finite, and below 2^1100 in size.
  void add(long double term);

  void add_integer(int128 term);
  void merge(const PlainSum& other);

  /// Nearly: relatively to within 2^-62.
  long double value() const;

  /// The sum over `divisor`, rounded once, to the nearest double and from the middle between two to
  /// the even one. Infinite if that is beyond the largest.
  double rounded(std::uint64_t divisor = 1) const;

 private:
  /// Below 0, 0, or above: as the sum is less than, equal to, or more than `bound` * `divisor`.
  int compare(long double bound, std::uint64_t divisor) const;

  /// Whether no double is nearer to the sum over `divisor`.
  bool rounds_to(double candidate, std::uint64_t divisor) const;

  void grow(long double term);
  PlainSum in_parts() const;

  /// The sum is that of all these. In most data the first two hold it, which saves time.
  long double high_ = 0, low_ = 0;
  std::vector<long double> parts_;  // none of them is 0
};

}  // namespace ooc::plain
