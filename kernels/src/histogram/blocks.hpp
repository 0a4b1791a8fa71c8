#pragma once

#include "histogram/count.hpp"

#include <cstddef>

// Shared by the CPU loops of histogram().

namespace ooc::detail::binning {

/// Block length, a constant so that the compiler can vectorise loops over a block.
constexpr std::size_t block_elements = 512;

/// Returns the version of a function for a level of vector instructions.
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

}  // namespace ooc::detail::binning
