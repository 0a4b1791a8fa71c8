#pragma once

#include <cstdint>
#include <cstring>

namespace ooc::detail::test {

/// Returns the bits of a value of at most 8 bytes in the low bits of the result.
template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof value <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Returns the value with these bits, of which only as many as it has are used, the lowest.
template <class T>
T from_bits(std::uint64_t bits) {
  static_assert(sizeof(T) <= sizeof bits);
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace ooc::detail::test
