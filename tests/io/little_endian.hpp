#pragma once

#include <cstdint>
#include <string>

namespace ooc::detail::test {

/// Returns a number in so many bytes, the lowest first.
inline std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

}  // namespace ooc::detail::test
