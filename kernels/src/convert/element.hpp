#pragma once

#include <ooc/dtype.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Conversion of one element, and the test whether it keeps its value. This is the only definition:
// the loops of both devices are compiled from it, so they cannot differ. Processors have
// instructions for much of it, but disagree about NaN and values out of range, so those cases are
// handled here, without branches.

namespace ooc::detail::conversion {

// --- floating types -----------------------------------------------------------------------------

/// Bit layout of a floating type.
template <class Word, int fraction>
struct Layout {
  using Bits = Word;
  static constexpr int fraction_bits = fraction;
  static constexpr int exponent_bits = 8 * static_cast<int>(sizeof(Bits)) - 1 - fraction_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr Bits exponent_one = Bits{1} << fraction_bits;
  static constexpr Bits sign = Bits{1} << (fraction_bits + exponent_bits);
  static constexpr Bits infinity = sign - exponent_one;
  // The bit that makes a NaN quiet rather than signalling.
  static constexpr Bits quiet = exponent_one >> 1;

  /// The bits of 2^exponent, from the smallest normal number up to infinity.
  static constexpr Bits power_of_two(int exponent) {
    return static_cast<Bits>(exponent + bias) << fraction_bits;
  }
};

template <class T>
struct LayoutOf;
template <>
struct LayoutOf<Float16> : Layout<std::uint16_t, 10> {};
template <>
struct LayoutOf<BFloat16> : Layout<std::uint16_t, 7> {};
template <>
struct LayoutOf<float> : Layout<std::uint32_t, 23> {};
template <>
struct LayoutOf<double> : Layout<std::uint64_t, 52> {};

/// Converts to a floating type with more bits (float or double), exactly. A NaN becomes quiet, and
/// keeps its sign and payload.
template <class To, class From>
constexpr To widen(From value) {
  using Narrow = LayoutOf<From>;
  using Wide = LayoutOf<To>;
  using Bits = typename Wide::Bits;
  constexpr int gained_bits = Wide::fraction_bits - Narrow::fraction_bits;
  constexpr Bits rebias = Wide::power_of_two(-Narrow::bias);

  const Bits bits = std::bit_cast<typename Narrow::Bits>(value);
  const Bits magnitude = bits & (Narrow::sign - 1u);
  const Bits normal = (magnitude << gained_bits) + rebias;
  // A subnormal has no leading one. Adding the exponent of the smallest normal number gives it one,
  // and the subtraction removes it again.
  const Bits subnormal = std::bit_cast<Bits>(std::bit_cast<To>(normal + Wide::exponent_one) -
                                             std::bit_cast<To>(Bits{rebias + Wide::exponent_one}));
  const Bits infinite = normal | Wide::infinity;

  const Bits finite = magnitude < Narrow::exponent_one ? subnormal : normal;
  const Bits number = magnitude < Narrow::infinity ? finite : infinite;
  const Bits result = magnitude > Narrow::infinity ? infinite | Wide::quiet : number;
  const Bits sign = (bits & Narrow::sign) << (8 * (sizeof(To) - sizeof(From)));
  return std::bit_cast<To>(result | sign);
}

/// Rounds a float or double once, to the nearest value of a type with fewer bits, ties to even. A
/// NaN becomes quiet, and keeps its sign and the upper bits of its payload.
template <class To, class From>
constexpr To narrow(From value) {
  using Wide = LayoutOf<From>;
  using Narrow = LayoutOf<To>;
  using Bits = typename Wide::Bits;
  constexpr int lost_bits = Wide::fraction_bits - Narrow::fraction_bits;
  constexpr Bits below_half = (Bits{1} << (lost_bits - 1)) - 1;
  constexpr Bits rebias = Wide::power_of_two(-Narrow::bias);
  constexpr auto smallest_normal = std::bit_cast<From>(Wide::power_of_two(1 - Narrow::bias));
  constexpr auto too_large = std::bit_cast<From>(Wide::power_of_two(1 + Narrow::bias));
  // Adding this number rounds to a multiple of its last bit, which is the smallest subnormal of To.
  constexpr Bits anchor = Wide::power_of_two(1 - Narrow::bias + lost_bits);

  const auto bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & (Wide::sign - 1);
  const auto size = std::bit_cast<From>(magnitude);
  const Bits odd = magnitude >> lost_bits & 1;
  // Rounding up may carry into the exponent: to the next power of two, or to infinity.
  const Bits normal = (magnitude - rebias + below_half + odd) >> lost_bits;
  const Bits subnormal = std::bit_cast<Bits>(size + std::bit_cast<From>(anchor)) - anchor;
  const Bits payload = magnitude >> lost_bits & (Narrow::quiet - 1u);

  const Bits finite = size < smallest_normal ? subnormal : normal;
  const Bits number = size < too_large ? finite : Bits{Narrow::infinity};
  const Bits result = size == size ? number : Bits{Narrow::infinity | Narrow::quiet} | payload;
  const Bits sign = (bits & Wide::sign) >> (8 * (sizeof(From) - sizeof(To)));
  return std::bit_cast<To>(static_cast<typename Narrow::Bits>(result | sign));
}

// --- integers -----------------------------------------------------------------------------------

template <class T>
inline constexpr bool is_long_integer = std::is_integral_v<T> && sizeof(T) == 8;

/// An 8-byte integer as the sum of two doubles. Every level of Simd has instructions to convert
/// 4-byte halves.
template <class T>
struct Halves {
  using High = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  double high;
  std::uint32_t low;

  explicit constexpr Halves(T value)
      : high(static_cast<double>(static_cast<High>(value >> 32)) * 0x1p32),
        low(static_cast<std::uint32_t>(value)) {}
};

/// Converts an 8-byte integer to a double, rounding to odd, so that rounding the result again to 40
/// bits or fewer is as if the integer were rounded once. If the integer may not fit 53 bits, its
/// last 11 bits are cleared, and the bit before them is set if any of them was.
template <class T>
constexpr double round_to_odd(T value) {
  constexpr std::uint32_t excess = (1u << (64 - 53)) - 1;
  const Halves<T> halves(value);
  const bool fits = (halves.high < 0x1p53) & (halves.high >= -0x1p53);
  const std::uint32_t any = ((halves.low & excess) + excess) & (excess + 1);
  return halves.high + static_cast<double>(fits ? halves.low : (halves.low & ~excess) | any);
}

/// The range of the floating values whose integer part an integer type can hold: from `lowest` up
/// to, but not including, `too_large`.
template <class Integer, class Float>
struct ValueRange {
  using Limits = std::numeric_limits<Integer>;
  static constexpr Float lowest = static_cast<Float>(Limits::lowest());
  static constexpr Float too_large = static_cast<Float>(Limits::max() / 2 + 1) * 2;

  static constexpr bool contains(Float value) { return (value >= lowest) & (value < too_large); }
};

/// Discards the fraction. A value out of range becomes the nearest value in range, and NaN becomes
/// 0.
template <class To, class Float>
constexpr To truncate(Float value) {
  using Limits = std::numeric_limits<To>;
  using Inside = ValueRange<To, Float>;
  const To inside = static_cast<To>(Inside::contains(value) ? value : Float{0});
  const To not_above = value >= Inside::too_large ? Limits::max() : inside;
  return value < Inside::lowest ? Limits::lowest() : not_above;
}

/// True if the integer part of a value does not fit the type To, or if the value is NaN.
template <class To, class Float>
constexpr bool is_out_of_range(Float value) {
  using Inside = ValueRange<To, Float>;
  // Values between `below` and `lowest` lose their fraction. Without fractions, both are `lowest`.
  constexpr Float below = Inside::lowest - 1;
  const bool low = below < Inside::lowest ? value > below : value >= Inside::lowest;
  return !(low & (value < Inside::too_large));
}

// --- all types ----------------------------------------------------------------------------------

/// Returns the value of an element exactly: as a float if that suffices, else as a double. Not for
/// 8-byte integers.
template <class T>
constexpr auto exactly(T value) {
  if constexpr (is_floating<T> && sizeof(T) == 2) {
    return widen<float>(value);
  } else if constexpr (is_floating<T>) {
    return value;
  } else {
    static_assert(!is_long_integer<T>);
    return static_cast<std::conditional_t<sizeof(T) <= 2, float, double>>(value);
  }
}

/// Converts an element: rounded once, to nearest even, if the result is a floating type; modulo
/// 2^bits from integer to integer; as truncate() from floating types to integers.
template <class To, class From>
constexpr To convert(From value) {
  if constexpr (is_floating<From>) {
    if constexpr (std::is_integral_v<To>) {
      return truncate<To>(exactly(value));
    } else if constexpr (sizeof(To) > sizeof(From)) {
      return widen<To>(value);
    } else {
      return narrow<To>(exactly(value));
    }
  } else if constexpr (is_long_integer<From> && std::is_same_v<To, double>) {
    const Halves<From> halves(value);
    return halves.high + static_cast<double>(halves.low);
  } else if constexpr (is_long_integer<From> && is_floating<To>) {
    return narrow<To>(round_to_odd(value));
  } else if constexpr (is_floating<To> && sizeof(To) == 2) {
    return narrow<To>(exactly(value));
  } else {
    return static_cast<To>(value);
  }
}

/// True if the element `before` has the same value `after` its conversion. Any NaN equals any
/// other.
template <class From, class To>
constexpr bool is_exact(From before, To after) {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return std::in_range<To>(before);
  } else if constexpr (is_long_integer<From>) {
    // The difference is exact if it is as small as `low`.
    const Halves<From> halves(before);
    return exactly(after) - halves.high == static_cast<double>(halves.low);
  } else if constexpr (is_long_integer<To>) {
    using Float = decltype(exactly(before));
    return ValueRange<To, Float>::contains(exactly(before)) &
           (static_cast<Float>(after) == exactly(before));
  } else if constexpr (is_floating<From> && is_floating<To>) {
    constexpr bool always = sizeof(From) < sizeof(To);
    const bool is_nan = exactly(before) != exactly(before);
    return always || ((exactly(before) == exactly(after)) | is_nan);
  } else if constexpr (is_floating<To>) {
    constexpr bool always = std::numeric_limits<From>::digits <= LayoutOf<To>::fraction_bits + 1;
    return always || exactly(before) == exactly(after);
  } else {
    return exactly(before) == exactly(after);
  }
}

// --- what is beyond a type
// ------------------------------------------------------------------------

/// True if type From has finite values that overflow to infinity, or are out of range, as a To.
template <class To, class From>
inline constexpr bool can_exceed = true;
template <class To, class From>
requires(is_floating<To>&& is_floating<From>) inline constexpr bool can_exceed<To, From> =
    LayoutOf<From>::bias > LayoutOf<To>::bias ||
    (LayoutOf<From>::bias == LayoutOf<To>::bias && sizeof(From) > sizeof(To));
template <class To, std::integral From>
requires(is_floating<To>) inline constexpr bool can_exceed<To, From> =
    std::is_same_v<To, Float16> && std::numeric_limits<From>::digits >= 16;

/// True if a finite number becomes infinite, or if a value is outside the range of an integer type.
/// The value may be a number, an infinity or NaN.
template <class To, class From>
constexpr bool is_beyond(From value) {
  if constexpr (!can_exceed<To, From>) {
    return false;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return !std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return is_out_of_range<To>(exactly(value));
  } else if constexpr (std::is_integral_v<From>) {
    constexpr int rounds_up = 65520;  // to 2^16, which is infinite as f2
    const bool low = std::is_signed_v<From> && std::cmp_less_equal(value, -rounds_up);
    return low | std::cmp_greater_equal(value, rounds_up);
  } else {
    using Wide = LayoutOf<decltype(exactly(value))>;
    using Narrow = LayoutOf<To>;
    using Bits = typename Wide::Bits;
    // The first power of two that To cannot represent, less half a unit in the last place.
    constexpr Bits rounds_up = Wide::power_of_two(Narrow::bias + 1) -
                               (Bits{1} << (Wide::fraction_bits - Narrow::fraction_bits - 1));
    const Bits magnitude = std::bit_cast<Bits>(exactly(value)) & (Wide::sign - 1);
    return (magnitude >= rounds_up) & (magnitude < Wide::infinity);
  }
}

/// Returns the bits of a float or double, without the sign if To has negative numbers. If the
/// largest result over an array is below first_beyond(), no element is outside the range of To.
template <class To, class From>
constexpr auto bits_to_compare(From value) {
  using Wide = LayoutOf<From>;
  const auto bits = std::bit_cast<typename Wide::Bits>(value);
  return std::is_unsigned_v<To> ? bits : bits & (Wide::sign - 1);
}
template <class To, class From>
constexpr auto first_beyond() {
  using Wide = LayoutOf<From>;
  if constexpr (std::is_integral_v<To>) {
    return Wide::power_of_two(std::numeric_limits<To>::digits);
  } else {
    return Wide::power_of_two(LayoutOf<To>::bias + 1) -
           (typename Wide::Bits{1} << (Wide::fraction_bits - LayoutOf<To>::fraction_bits - 1));
  }
}

/// Returns the finite value of type To that is nearest to a value outside its range. `after` is the
/// result of convert(). Not for NaN, which has no nearest integer.
template <class To, class From>
constexpr To clipped(From value, To after) {
  if constexpr (is_floating<To>) {
    using Bits = typename LayoutOf<To>::Bits;
    return std::bit_cast<To>(static_cast<Bits>(std::bit_cast<Bits>(after) - 1));
  } else if constexpr (is_floating<From>) {
    return after;  // convert() has clipped it already
  } else {
    using Limits = std::numeric_limits<To>;
    return std::cmp_less(value, 0) ? Limits::lowest() : Limits::max();
  }
}

/// True if a value outside a type's range can be clipped, which is not possible for NaN.
template <class From>
constexpr bool is_clippable(From value) {
  if constexpr (is_floating<From>) return exactly(value) == exactly(value);
  return true;
}

}  // namespace ooc::detail::conversion
