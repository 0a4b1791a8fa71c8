#pragma once

#include <cstdint>
#include <string>

namespace ooc::detail::test {

/// Returns a number in so many bytes, the lowest first. There may be more than the number has.
inline std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(number);
    number >>= 8;
  }
  return text;
}

}  // namespace ooc::detail::test
