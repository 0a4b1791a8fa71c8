#include "reduce/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace ooc::detail::reduction {
namespace {

__extension__ using uint128 = unsigned __int128;

/// Divides a sum that is not negative, rounding down. Returns true if there is a remainder.
bool divide(ExactSum& sum, std::uint64_t divisor) {
  uint128 rest = 0;
  for (std::size_t i = ExactSum::limb_count; i-- > 0;) {
    rest = rest << ExactSum::limb_bits | static_cast<std::uint64_t>(sum.limbs[i]);
    sum.limbs[i] = static_cast<std::int64_t>(rest / divisor);
    rest %= divisor;
  }
  return rest != 0;
}

bool bit_at(const ExactSum& sum, unsigned position) {
  const std::int64_t limb = sum.limbs[position / ExactSum::limb_bits];
  return (limb >> (position % ExactSum::limb_bits) & 1) != 0;
}

/// Position of the highest set bit of a sum that is not negative; 0 if none is set.
unsigned highest_bit(const ExactSum& sum) {
  for (std::size_t i = ExactSum::limb_count; i-- > 0;) {
    if (sum.limbs[i] == 0) continue;
    const auto limb = static_cast<std::uint64_t>(sum.limbs[i]);
    return static_cast<unsigned>(i * ExactSum::limb_bits + std::bit_width(limb)) - 1;
  }
  return 0;
}

/// Rounds a sum that is not negative. `more`: the true value is larger by less than the lowest bit.
double round(const ExactSum& sum, bool more) {
  using Format = FloatFormat<double>;
  const unsigned highest = highest_bit(sum);
  const unsigned lowest =
      std::max(highest, Format::lowest_position + Format::fraction_bits) - Format::fraction_bits;

  std::uint64_t significand = 0;
  for (unsigned i = highest + 1; i-- > lowest;) significand = 2 * significand + bit_at(sum, i);
  for (unsigned i = 0; i + 1 < lowest; ++i) more = more || bit_at(sum, i);
  const bool odd = significand % 2 != 0;
  if (bit_at(sum, lowest - 1) && (more || odd)) ++significand;
  return std::ldexp(static_cast<double>(significand),
                    static_cast<int>(lowest) + ExactSum::lowest_exponent);
}

}  // namespace

void ExactSum::add(std::uint64_t magnitude, unsigned position, bool negative) {
  assert(position / limb_bits + limbs_of(64) <= limb_count);
  add_to_limbs<64>([this](unsigned i) -> std::int64_t& { return limbs[i]; }, magnitude, position,
                   negative);
}

void ExactSum::add(int128 integer) {
  const bool negative = integer < 0;
  const auto magnitude = negative ? -static_cast<uint128>(integer) : static_cast<uint128>(integer);
  add(static_cast<std::uint64_t>(magnitude), position_of(0), negative);
  add(static_cast<std::uint64_t>(magnitude >> 64), position_of(64), negative);
}

void ExactSum::carry() {
  carry_limbs(limbs.data(), limb_count);
}

void ExactSum::merge(const ExactSum& other) {
  for (std::size_t i = 0; i < limb_count; ++i) limbs[i] += other.limbs[i];
  carry();
}

double ExactSum::rounded(std::uint64_t divisor) const {
  ExactSum magnitude = *this;
  magnitude.carry();
  const bool negative = magnitude.limbs.back() < 0;
  if (negative) {
    for (std::int64_t& limb : magnitude.limbs) limb = -limb;
    magnitude.carry();
  }
  const bool remainder = divide(magnitude, divisor);
  const double size = round(magnitude, remainder);
  return negative ? -size : size;
}

}  // namespace ooc::detail::reduction
