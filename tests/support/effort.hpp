#pragma once

#include <string_view>

namespace ooc::test {

/// The sanitizers of this build: "", "address,undefined" or "thread".
inline constexpr std::string_view sanitizers = OOC_SANITIZE;

/// Returns the amount of work of a test: `usual`, or `sanitized` under a sanitizer, which slows all
/// work down by about ten times and needs less to find errors of threads and memory.
template <class T>
constexpr T effort(T usual, T sanitized) {
  return sanitizers.empty() ? usual : sanitized;
}

}  // namespace ooc::test
