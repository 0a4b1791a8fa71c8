#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ooc::detail {

/// Returns the number in `bytes` bytes of a text, from `offset` on: little-endian, without a sign.
inline std::uint64_t number_in(std::string_view text, std::size_t offset, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(text[offset + i])} << (8 * i);
  }
  return number;
}

/// Returns the number in bytes of memory.
inline std::uint64_t number_in(std::span<const std::byte> memory, std::size_t offset,
                               std::size_t bytes) {
  return number_in({reinterpret_cast<const char*>(memory.data()), memory.size()}, offset, bytes);
}

}  // namespace ooc::detail
