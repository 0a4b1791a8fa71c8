#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ooc::detail::reduction {

/// A sum of floating numbers that is rounded only when it is read: an integer of 2208 bits, in
/// units of 2^-1106, wide enough for the sum of any 2^64 doubles. It does not depend on the order
/// of additions, so partial sums need no tree.
///
/// Each limb of 64 bits represents 32 bits of the integer; its other bits hold what would otherwise
/// have to be carried at each addition.
///
///     ExactSum sum;
///     sum.add(3, ExactSum::position_of(-1), false);  // 3 * 2^-1
///     sum.rounded();                                 // 1.5
struct ExactSum {
  static constexpr unsigned limb_bits = 32;
  static constexpr std::size_t limb_count = 69;

  /// One limb is below the smallest double, for the bits of a quotient.
  static constexpr int lowest_exponent = -1106;

  /// Position of the bit of value 2^exponent.
  static constexpr unsigned position_of(int exponent) {
    return static_cast<unsigned>(exponent - lowest_exponent);
  }

  /// Adds magnitude * 2^(position + lowest_exponent), or subtracts it if `negative`. At most 2^30
  /// times between two calls of carry(). `position` must be that of some bit of a double.
  void add(std::uint64_t magnitude, unsigned position, bool negative);

  void add(int128 integer);

  /// Brings all limbs but the highest into [0, 2^32). The value does not change.
  void carry();

  /// Adds a sum of at most 2^30 additions, and carries.
  void merge(const ExactSum& other);

  /// Returns the sum divided by `divisor`, rounded once to the nearest double, ties to even.
  /// Infinite if that is beyond the largest double.
  double rounded(std::uint64_t divisor = 1) const;

  std::array<std::int64_t, limb_count> limbs{};
};

/// The layout of a float or double.
template <class T>
struct FloatFormat {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  static constexpr unsigned fraction_bits = Limits::digits - 1;
  static constexpr Bits implicit_one = Bits{1} << fraction_bits;
  static constexpr unsigned max_exponent = 2 * Limits::max_exponent - 1;  // infinities and NaN

  /// Position in an ExactSum of the lowest bit of numbers with this exponent.
  static constexpr unsigned position_of(unsigned exponent) {
    return lowest_position + (exponent == 0 ? 0 : exponent - 1);
  }

  static constexpr unsigned lowest_position =
      ExactSum::position_of(Limits::min_exponent - Limits::digits);
};

/// Number of limbs that a number of `bits` bits can reach, at any position.
constexpr unsigned limbs_of(unsigned bits) {
  return (bits + 2 * ExactSum::limb_bits - 2) / ExactSum::limb_bits;
}

/// The limbs of an ExactSum that finite numbers of a type can reach.
template <class T>
struct ReachedLimbs {
  using Format = FloatFormat<T>;

  static constexpr unsigned first = Format::position_of(0) / ExactSum::limb_bits;
  static constexpr unsigned count =
      Format::position_of(Format::max_exponent - 1) / ExactSum::limb_bits - first +
      limbs_of(Format::fraction_bits + 1);
};

/// A number as digits of neighbouring limbs, all of its sign and below 2^32 in size.
template <unsigned count>
struct LimbDigits {
  unsigned first;  // the limb of the lowest
  std::int64_t digits[count];
};

/// Returns the digits of a magnitude of at most `bits` bits.
template <unsigned bits>
constexpr LimbDigits<limbs_of(bits)> digits_of(std::uint64_t magnitude, unsigned position,
                                               bool negative) {
  const unsigned shift = position % ExactSum::limb_bits;
  const std::uint64_t low = magnitude << shift;
  const std::int64_t sign = negative ? -1 : 0;
  const auto digit = [sign](std::uint64_t size) {
    return (static_cast<std::int64_t>(size) ^ sign) - sign;
  };
  LimbDigits<limbs_of(bits)> found{position / ExactSum::limb_bits, {}};
  found.digits[0] = digit(static_cast<std::uint32_t>(low));
  found.digits[1] = digit(low >> ExactSum::limb_bits);
  if constexpr (limbs_of(bits) > 2) found.digits[2] = digit(magnitude >> 1 >> (63 - shift));
  return found;
}

/// Adds a magnitude of at most `bits` bits to limbs. `limb_at(i)` returns a reference to limb i.
template <unsigned bits, class LimbAt>
constexpr void add_to_limbs(LimbAt limb_at, std::uint64_t magnitude, unsigned position,
                            bool negative) {
  const auto found = digits_of<bits>(magnitude, position, negative);
  for (unsigned i = 0; i < limbs_of(bits); ++i) limb_at(found.first + i) += found.digits[i];
}

/// Brings all of `count` limbs but the highest into [0, 2^32). Their value does not change.
constexpr void carry_limbs(std::int64_t* limbs, std::size_t count) {
  std::int64_t carried = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    limbs[i] += carried;
    carried = limbs[i] >> ExactSum::limb_bits;
    limbs[i] &= std::numeric_limits<std::uint32_t>::max();
  }
  limbs[count - 1] += carried;
}

/// Adds those of `count` elements of a floating type in device memory that are finite. Blocks until
/// their sum is in `sum`.
void add_exactly_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                      ExactSum& sum);

}  // namespace ooc::detail::reduction
