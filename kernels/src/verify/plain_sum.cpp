#include "verify/plain_sum.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace ooc::detail::plain {
namespace {

static_assert(std::numeric_limits<long double>::digits == 64);

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Widens a double. Infinity becomes the number that would follow the largest double.
long double extended(double value) {
  if (std::isfinite(value)) return value;
  return value > 0 ? 0x1p1024L : -0x1p1024L;
}

long double middle(double left, double right) {
  return (extended(left) + extended(right)) / 2;  // exact: needs only one bit more than a double
}

struct Added {
  long double sum, lost;
};

/// The two-sum of D. E. Knuth: sum + lost == left + right exactly, whichever is larger.
Added add_exactly(long double left, long double right) {
  const long double sum = left + right;
  const long double of_right = sum - left;
  return {sum, (left - (sum - of_right)) + (right - of_right)};
}

}  // namespace

void PlainSum::add(long double term) {
  const Added high = add_exactly(high_, term);
  const Added low = add_exactly(low_, high.lost);
  high_ = high.sum;
  low_ = low.sum;
  if (low.lost != 0) grow(low.lost);
}

void PlainSum::grow(long double term) {
  std::size_t kept = 0;
  for (const long double part : parts_) {
    const auto [sum, lost] = add_exactly(part, term);
    if (lost != 0) parts_[kept++] = lost;
    term = sum;
  }
  parts_.resize(kept);
  if (term != 0) parts_.push_back(term);
}

void PlainSum::add_integer(int128 term) {
  add(static_cast<long double>(static_cast<std::int64_t>(term >> 64)) * 0x1p64L);
  add(static_cast<long double>(static_cast<std::uint64_t>(term)));
}

void PlainSum::merge(const PlainSum& other) {
  for (const long double part : other.parts_) add(part);
  add(other.low_);
  add(other.high_);
}

/// Returns the same sum as numbers that do not overlap.
PlainSum PlainSum::in_parts() const {
  PlainSum all;
  all.parts_ = parts_;
  all.grow(low_);
  all.grow(high_);
  return all;
}

long double PlainSum::value() const {
  long double sum = 0;
  for (const long double part : in_parts().parts_) sum += part;
  return sum;
}

int PlainSum::compare(long double bound, std::uint64_t divisor) const {
  const auto factor = static_cast<long double>(divisor);
  const long double product = bound * factor;
  const long double lost = std::fma(bound, factor, -product);
  PlainSum rest = in_parts();
  rest.grow(-lost);
  rest.grow(-product);
  if (rest.parts_.empty()) return 0;
  return rest.parts_.back() < 0 ? -1 : 1;  // the largest part decides
}

bool PlainSum::rounds_to(double candidate, std::uint64_t divisor) const {
  const bool even = (std::bit_cast<std::uint64_t>(candidate) & 1) == 0;
  const auto lies_above = [&](double below) {
    if (candidate == -infinity) return true;
    const int side = compare(middle(below, candidate), divisor);
    return side > 0 || (side == 0 && even);
  };
  const auto lies_below = [&](double above) {
    if (candidate == infinity) return true;
    const int side = compare(middle(candidate, above), divisor);
    return side < 0 || (side == 0 && even);
  };
  return lies_above(std::nextafter(candidate, -infinity)) &&
         lies_below(std::nextafter(candidate, infinity));
}

double PlainSum::rounded(std::uint64_t divisor) const {
  const auto near = static_cast<double>(value() / static_cast<long double>(divisor));
  for (const double candidate :
       {near, std::nextafter(near, -infinity), std::nextafter(near, infinity)}) {
    if (rounds_to(candidate, divisor)) return candidate;
  }
  assert(false);  // not reached: value() is more accurate than that
  return near;
}

}  // namespace ooc::detail::plain
