#pragma once

#include "histogram/bins.hpp"

#include <ooc/dtype.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

// Bins of keys. A key is an unsigned integer whose order is that of the values, so a bin is a range
// of values of any type without rounding. The search for quantiles counts in such bins.

namespace ooc::detail::binning {

/// The type of the keys of T. Half of them have 32 bits at most, which are faster to search.
template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// The bits of an element.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

template <class T>
inline constexpr std::uint32_t key_bits = 8 * sizeof(T);

/// Bits of an element to invert for its key: of negative floats all, since larger bits mean a lower
/// value, of other signed elements the sign.
template <class T>
constexpr KeyOf<T> inverted_bits(bool sign_is_set) {
  constexpr KeyOf<T> sign = KeyOf<T>{1} << (key_bits<T> - 1);
  if constexpr (is_floating<T>) return sign_is_set ? sign | (sign - 1) : sign;
  return std::is_signed_v<T> ? sign : KeyOf<T>{0};
}

/// Returns the key of an element: less than 2^key_bits. -0 comes before +0. NaN come first or last.
template <class T>
constexpr KeyOf<T> key_of(T element) {
  const KeyOf<T> bits = std::bit_cast<BitsOf<T>>(element);
  return bits ^ inverted_bits<T>((bits >> (key_bits<T> - 1)) != 0);
}

/// Returns the element with a key.
template <class T>
constexpr T element_of(KeyOf<T> key) {
  const bool sign_of_float = (key >> (key_bits<T> - 1)) == 0;
  return std::bit_cast<T>(static_cast<BitsOf<T>>(key ^ inverted_bits<T>(sign_of_float)));
}

template <class T>
constexpr bool is_a_nan(T element) {
  if constexpr (!is_floating<T>)
    return false;
  else if constexpr (sizeof(T) == 2)
    return to_double(element) != to_double(element);
  else
    return element != element;
}

/// Ranges of 2^(shift + bits) keys. Each begins at a multiple of that, and has 2^bits bins.
struct KeyRanges {
  std::uint32_t shift = 0, bits = 0;
  std::vector<std::uint64_t> firsts{};        // the first key of each range; ascending
  std::vector<std::uint32_t> short_firsts{};  // the same, for keys of 32 bits

  std::size_t size() const { return firsts.size() << bits; }
  std::size_t counters() const { return size() + outside_counters; }
};

/// The bins of KeyRanges, for elements of type T. Keys outside of the ranges count as below.
template <class T>
struct KeyBins : BinNumbers {
  using Key = KeyOf<T>;

  std::uint32_t shift, bits;
  std::int32_t ranges;
  const Key* firsts;

  explicit KeyBins(const KeyRanges& from)
      : BinNumbers{static_cast<std::int32_t>(from.size()) - 1},
        shift(from.shift),
        bits(from.bits),
        ranges(static_cast<std::int32_t>(from.firsts.size())) {
    if constexpr (sizeof(Key) == sizeof(std::uint32_t))
      firsts = from.short_firsts.data();
    else
      firsts = from.firsts.data();
  }

  /// True if all keys are in a range.
  constexpr bool take_all() const { return shift + bits == key_bits<T>; }

  std::span<const Key> table() const { return {firsts, static_cast<std::size_t>(ranges)}; }
  void set_table(const Key* table) { firsts = table; }

  constexpr std::uint32_t bin_of(T element) const {
    const Key key = key_of(element);
    std::int32_t found = 0;
    for (std::int32_t left = ranges; left > 1; left -= left / 2) {
      found = nearer(found, left / 2, key);
    }
    return number_of(found_or_none(found, key), key, is_a_nan(element));
  }

  /// The bits of a key that all keys of a range have in common.
  constexpr Key head_of(Key key) const { return key >> shift >> bits; }

  /// One step of the search for the last range that begins at `key` or before.
  constexpr std::int32_t nearer(std::int32_t found, std::int32_t distance, Key key) const {
    return firsts[found + distance] <= key ? found + distance : found;
  }

  /// Returns the range if the key is in it, or else -1.
  constexpr std::int32_t found_or_none(std::int32_t range, Key key) const {
    return head_of(key) == head_of(firsts[range]) ? range : -1;
  }

  /// Returns the bin in a range, or the counter for an element in none, if that is -1.
  constexpr std::uint32_t number_of(std::int32_t range, Key key, bool is_nan) const {
    const Key bin = (key >> shift) & ((Key{1} << bits) - 1);
    const std::int32_t inside = range * (1 << bits) + static_cast<std::int32_t>(bin);
    const std::int32_t number = range < 0 ? below() : inside;
    return static_cast<std::uint32_t>(is_nan ? nan() : number);
  }
};

template <class T>
constexpr std::uint32_t number_in(const KeyBins<T>& bins, T element) {
  return bins.bin_of(element);
}

}  // namespace ooc::detail::binning
