#pragma once

#include <cstdint>
#include <vector>

namespace ooc {

/// The vector instructions that the hot loops are compiled for. The results have the same bits.
enum class Simd : std::uint8_t { sse2, avx2, avx512 };

/// What this processor can run, slowest first.
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

/// The fastest of them.
inline Simd best_simd() {
  return supported_simd().back();
}

}  // namespace ooc
