#pragma once

#include "histogram/count.hpp"

#include <cstddef>

// What the CPU's loops of histogram() have in common.

namespace ooc::binning {

/// Loops over a block: the compiler knows their length and makes vector instructions of them.
constexpr std::size_t block_elements = 512;

/// Chooses among a function's versions for the levels of vector instructions.
template <class Function>
Function for_level(Simd simd, Function sse2, Function avx2, Function avx512) {
  switch (simd) {
    case Simd::sse2: return sse2;
    case Simd::avx2: return avx2;
    case Simd::avx512: return avx512;
  }
  __builtin_unreachable();
}

template <class T>
const T* elements(DeviceSpan<const std::byte> data) {
  return reinterpret_cast<const T*>(data.data);
}

}  // namespace ooc::binning
