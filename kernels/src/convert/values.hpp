#pragma once

#include <ooc/detail/base/element_type.hpp>
#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <cstdint>

// Conversion of arrays from any element type to any other, in this machine's byte order;
// element.hpp defines it. Input and output must not overlap. An element is inexact if its value
// changes.

namespace ooc::conversion {

/// Converts `count` elements and returns the number of inexact ones.
std::uint64_t convert_values_cpu(ElementType from, ElementType to, const std::byte* in,
                                 std::byte* out, std::size_t count, Simd simd);

/// Enqueues the same for device memory. Adds the number of inexact elements to `*inexact`, in
/// device memory, unless it is null.
void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, std::uint64_t* inexact);

/// Calls one of these by the stream's device. All pointers are to its memory.
inline void convert_values(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                           std::byte* out, std::size_t count, std::uint64_t* inexact) {
  if (stream.kind() == DeviceKind::cuda) {
    convert_values_cuda(stream, from, to, in, out, count, inexact);
    return;
  }
  const std::uint64_t found = convert_values_cpu(from, to, in, out, count, best_simd());
  if (inexact != nullptr) *inexact += found;
}

}  // namespace ooc::conversion
