#pragma once

#include <ooc/device.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>

// Conversions of elements, in this machine's byte order, from any type to any other; what they are
// stands in convert_element.hpp. Input and output do not overlap. An element is inexact if it does
// not have the same value afterwards.

namespace ooc::conversion {

/// Converts `count` elements and returns how many of them are inexact.
std::uint64_t convert_values_cpu(ElementType from, ElementType to, const std::byte* in,
                                 std::byte* out, std::size_t count, Simd simd);

/// Enqueues the same for device memory. Adds to `*inexact` there, unless that is null.
void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, std::uint64_t* inexact);

/// The one for the stream's device, whose memory all pointers are into.
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
