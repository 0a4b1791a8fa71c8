#pragma once

#include <ooc/device.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/number.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ooc::reduction {

/// A sum of floating numbers that is not rounded before it is asked for: an integer of 2208 bits,
/// in units of 2^-1106, which holds any 2^64 doubles. What was added in which order makes no
/// difference, so partial sums need no tree.
///
/// The integer lies in limbs of 64 bits, each of which stands for 32: the others take what would
/// else have to be carried at each addition.
///
///     ExactSum sum;
///     sum.add(3, ExactSum::position_of(-1), false);  // 3 * 2^-1
///     sum.rounded();                                 // 1.5
struct ExactSum {
  static constexpr unsigned limb_bits = 32;
  static constexpr std::size_t limb_count = 69;

  /// One limb lies below the smallest double, for what a quotient adds to it.
  static constexpr int lowest_exponent = -1106;

  /// The bit that stands for 2^exponent.
  static constexpr unsigned position_of(int exponent) {
    return static_cast<unsigned>(exponent - lowest_exponent);
  }

  /// Adds magnitude * 2^(position + lowest_exponent), or subtracts it. At most 2^30 times between
  /// two calls of carry(). `position` is that of any bit of a double.
  void add(std::uint64_t magnitude, unsigned position, bool negative);

  void add(int128 integer);

  /// Brings all limbs but the highest into [0, 2^32). The sum stays the same.
  void carry();

  /// Adds the sum of up to 2^30 additions, and carries.
  void merge(const ExactSum& other);

  /// The sum over `divisor`, rounded once, to the nearest double and from the middle between two
  /// to the even one. Infinite if that is beyond the largest.
  double rounded(std::uint64_t divisor = 1) const;

  std::array<std::int64_t, limb_count> limbs{};
};

/// How the bits of a float or double make its value.
template <class T>
struct FloatFormat {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  static constexpr unsigned fraction_bits = Limits::digits - 1;
  static constexpr Bits implicit_one = Bits{1} << fraction_bits;
  static constexpr unsigned max_exponent = 2 * Limits::max_exponent - 1;  // infinities and NaN

  /// In an ExactSum, the lowest bit of the numbers that have this exponent.
  static constexpr unsigned position_of(unsigned exponent) {
    return lowest_position + (exponent == 0 ? 0 : exponent - 1);
  }

  static constexpr unsigned lowest_position =
      ExactSum::position_of(Limits::min_exponent - Limits::digits);
};

/// How many limbs numbers of `bits` bits may reach, wherever they begin.
constexpr unsigned limbs_of(unsigned bits) {
  return (bits + 2 * ExactSum::limb_bits - 2) / ExactSum::limb_bits;
}

/// Adds a magnitude of at most `bits` bits to limbs, each of which `limb_at` gives a reference to.
template <unsigned bits, class LimbAt>
constexpr void add_to_limbs(LimbAt limb_at, std::uint64_t magnitude, unsigned position,
                            bool negative) {
  const unsigned index = position / ExactSum::limb_bits;
  const unsigned shift = position % ExactSum::limb_bits;
  const std::uint64_t low = magnitude << shift;
  const auto add = [&](unsigned limb, std::uint64_t digit) {
    const auto change = static_cast<std::int64_t>(digit);
    limb_at(limb) += negative ? -change : change;
  };
  add(index, static_cast<std::uint32_t>(low));
  add(index + 1, low >> ExactSum::limb_bits);
  if constexpr (limbs_of(bits) > 2) add(index + 2, magnitude >> 1 >> (63 - shift));
}

/// Adds the finite ones of `count` elements in device memory, of floating type. They are in the sum
/// when it returns.
void add_exactly_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                      ExactSum& sum);

}  // namespace ooc::reduction
