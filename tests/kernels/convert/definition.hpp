#pragma once

#include "convert/values.hpp"

#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/bits.hpp"

namespace ooc::detail::conversion {

using test::bits_of;

// --- the definition, element by element, in 64 bits of precision ---------------------------------

static_assert(std::numeric_limits<long double>::digits == 64);  // holds every value of every type

/// Normal numbers of a floating type are 1.fraction * 2^exponent.
struct FloatFormat {
  int fraction_bits, lowest_exponent, highest_exponent;
};

template <class T>
constexpr FloatFormat format_of() {
  if constexpr (std::is_same_v<T, Float16>)
    return {10, -14, 15};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {7, -126, 127};
  else if constexpr (std::is_same_v<T, float>)
    return {23, -126, 127};
  else
    return {52, -1022, 1023};
}

/// The fraction of a floating value, aligned to the top bit.
template <class T>
std::uint64_t fraction_of(T value) {
  return bits_of(value) << (64 - format_of<T>().fraction_bits);
}

/// Decodes a value from its bits. A NaN keeps only its sign.
template <class T>
long double exact_value(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    using Limits = std::numeric_limits<long double>;
    constexpr FloatFormat format = format_of<T>();
    constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    const auto fraction = static_cast<long double>(fraction_of(value)) * 0x1p-64L;
    const int biased = static_cast<int>((bits_of(value) & (sign - 1)) >> format.fraction_bits);
    const int exponent = std::max(biased, 1) - 1 + format.lowest_exponent;
    long double size = std::ldexp((biased != 0 ? 1 : 0) + fraction, exponent);
    if (exponent > format.highest_exponent) {
      size = fraction == 0 ? Limits::infinity() : Limits::quiet_NaN();
    }
    return (bits_of(value) & sign) != 0 ? -size : size;
  }
}

/// The nearest number of a format, ties to even.
inline long double round_to(const FloatFormat& format, long double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.lowest_exponent);
  const long double unit = std::ldexp(1.0L, exponent - format.fraction_bits);
  const long double rounded = std::nearbyint(value / unit) * unit;  // to nearest, ties to even
  const long double too_large = std::ldexp(1.0L, format.highest_exponent + 1);
  if (std::fabs(rounded) < too_large) return rounded;
  return std::copysign(std::numeric_limits<long double>::infinity(), value);
}

/// Discards the fraction and clamps to an integer type.
template <class To>
long double truncate_into(long double value) {
  if (std::isnan(value)) return 0;
  constexpr long double lowest = std::numeric_limits<To>::lowest();
  constexpr long double highest = std::numeric_limits<To>::max();
  return std::trunc(std::min(std::max(value, lowest), highest));
}

/// The integer of type To that is congruent modulo 2^bits.
template <class To, class From>
To wrap(From value) {
  constexpr int128 lowest = std::numeric_limits<To>::lowest();
  constexpr int128 period = std::numeric_limits<To>::max() - lowest + 1;
  const int128 above_lowest = (value - lowest) % period;
  return static_cast<To>((above_lowest + period) % period + lowest);
}

/// True if `to` is the expected conversion of `from`.
template <class From, class To>
bool is_its_value(From from, To to) {
  const long double value = exact_value(from);
  if constexpr (std::is_same_v<From, To>) {
    return bits_of(from) == bits_of(to);
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    return to == wrap<To>(from);
  } else if constexpr (std::is_integral_v<To>) {
    return exact_value(to) == truncate_into<To>(value);
  } else {
    if (std::signbit(exact_value(to)) != std::signbit(value)) return false;
    if constexpr (is_floating<From>) {
      constexpr int dropped = 64 - format_of<To>().fraction_bits;
      constexpr std::uint64_t quiet = std::uint64_t{1} << 63;
      const std::uint64_t fraction = fraction_of(from) >> dropped << dropped | quiet;
      if (std::isnan(value)) return std::isnan(exact_value(to)) && fraction_of(to) == fraction;
    }
    return exact_value(to) == round_to(format_of<To>(), value);
  }
}

template <class From, class To>
bool keeps_value(From from, To to) {
  const long double before = exact_value(from);
  const long double after = exact_value(to);
  return before == after || (std::isnan(before) && std::isnan(after));
}

/// True if the value, or without its fraction, is no number of type To: too large, or a NaN that is
/// to be an integer.
template <class To, class From>
bool exceeds(From from) {
  const long double value = exact_value(from);
  if constexpr (std::is_integral_v<To>) {
    constexpr long double lowest = std::numeric_limits<To>::lowest();
    constexpr long double highest = std::numeric_limits<To>::max();
    return !(std::trunc(value) >= lowest && std::trunc(value) <= highest);
  } else {
    return std::isfinite(value) && std::isinf(round_to(format_of<To>(), value));
  }
}

/// The value of type To that is nearest to one that exceeds it.
template <class To, class From>
long double nearest_end(From from) {
  const bool is_negative = exact_value(from) < 0;
  if constexpr (std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    return is_negative ? Limits::lowest() : Limits::max();
  } else {
    constexpr FloatFormat format = format_of<To>();
    const long double largest =
        std::ldexp(2 - std::ldexp(1.0L, -format.fraction_bits), format.highest_exponent);
    return is_negative ? -largest : largest;
  }
}

/// Checks values that are converted, and clipped, by the definition. Returns what is to be counted.
template <class From, class To>
Losses expect_values(const std::vector<From>& values, const std::vector<To>& converted,
                     Beyond beyond) {
  Losses losses;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool exceeded = !std::is_same_v<From, To> && exceeds<To>(values[i]);
    const bool clips = beyond == Beyond::clip && exceeded && !std::isnan(exact_value(values[i]));
    const bool is_right = clips ? exact_value(converted[i]) == nearest_end<To>(values[i])
                                : is_its_value(values[i], converted[i]);
    EXPECT_TRUE(is_right) << std::hex << bits_of(values[i]) << " became " << bits_of(converted[i]);
    if (!is_right) return losses;
    if (keeps_value(values[i], converted[i])) continue;
    ++(clips ? losses.clipped : exceeded ? losses.overflowed : losses.rounded);
  }
  return losses;
}

}  // namespace ooc::detail::conversion
