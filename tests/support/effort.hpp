#pragma once

#include <string_view>

namespace ooc::test {

/// Those that this program is built with: "", "address,undefined" or "thread".
inline constexpr std::string_view sanitizers = OOC_SANITIZE;

/// How much a test does: `usual`, or as much as a sanitizer, which makes all of it ten times as
/// slow, needs to see the same of threads and memory.
template <class T>
constexpr T effort(T usual, T sanitized) {
  return sanitizers.empty() ? usual : sanitized;
}

}  // namespace ooc::test
