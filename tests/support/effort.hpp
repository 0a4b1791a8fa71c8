#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace ooc::detail::test {

/// The sanitizers of this build: "", "address,undefined" or "thread".
inline constexpr std::string_view sanitizers = OOC_SANITIZE;

/// Returns the amount of work of a test: `usual`, or `sanitized` under a sanitizer, which slows all
/// work down by about ten times and needs less to find errors of threads and memory.
template <class T>
constexpr T effort(T usual, T sanitized) {
  return sanitizers.empty() ? usual : sanitized;
}

/// Returns the number in an environment variable, if it is set.
inline std::optional<std::uint64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional(std::stoull(text));
}

/// Returns the distance between the cases that a walk over many of them takes: 1, which takes all;
/// `sanitized` under a sanitizer, where .ci/full sets OOC_WALK_STEP to 1.
inline std::uint64_t walk_step(std::uint64_t sanitized) {
  return number_in("OOC_WALK_STEP").value_or(effort<std::uint64_t>(1, sanitized));
}

}  // namespace ooc::detail::test
