#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// The levels of vector instructions for which the hot loops are compiled. Results have the same
/// bits at every level.
enum class Simd : std::uint8_t { sse2, avx2, avx512 };

/// Returns the levels that this processor supports, slowest first.
inline std::vector<Simd> supported_simd() {
  std::vector<Simd> levels{Simd::sse2};
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  if (avx2) levels.push_back(Simd::avx2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    levels.push_back(Simd::avx512);
  }
  return levels;
}

/// Returns the fastest supported level, but none above that of a text: "sse2", "avx2" or "avx512".
/// Other texts are no limit.
inline Simd best_simd(std::string_view limit) {
  std::vector<Simd> levels = supported_simd();
  const Simd most = limit == "sse2" ? Simd::sse2 : limit == "avx2" ? Simd::avx2 : Simd::avx512;
  while (levels.back() > most) levels.pop_back();
  return levels.back();
}

/// Returns the level that reduce() and histogram() use on the CPU: the fastest that is supported,
/// and that the environment variable OOC_SIMD allows.
inline Simd best_simd() {
  static const char* const limit = std::getenv("OOC_SIMD");
  static const Simd best = best_simd(limit == nullptr ? "" : limit);
  return best;
}

/// Returns "SSE2", "AVX2" or "AVX-512".
constexpr std::string_view name_of(Simd simd) {
  switch (simd) {
    case Simd::sse2: return "SSE2";
    case Simd::avx2: return "AVX2";
    case Simd::avx512: return "AVX-512";
  }
  __builtin_unreachable();
}

}  // namespace ooc::detail
