#pragma once

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>

// Conversion of arrays from any element type to any other, in this machine's byte order;
// element.hpp defines it. Input and output must not overlap.

namespace ooc::detail::conversion {

/// Numbers of elements whose value changes. An element is counted once.
struct Losses {
  std::uint64_t rounded = 0;     // to another value nearby
  std::uint64_t overflowed = 0;  // beyond the type: infinite, or another integer
  std::uint64_t clipped = 0;     // beyond the type: its largest or smallest finite value

  std::uint64_t all() const { return rounded + overflowed + clipped; }

  Losses& operator+=(const Losses& other) {
    rounded += other.rounded;
    overflowed += other.overflowed;
    clipped += other.clipped;
    return *this;
  }
};

/// The way of values beyond the type: as convert() says, or to its nearest finite value.
enum class Beyond { convert, clip };

/// Converts `count` elements and counts the losses.
Losses convert_values_cpu(ElementType from, ElementType to, const std::byte* in, std::byte* out,
                          std::size_t count, Beyond beyond, Simd simd);

/// Enqueues the same for device memory. Adds the losses to `*losses`, in device memory, unless it
/// is null.
void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, Beyond beyond, Losses* losses);

/// Calls one of these by the stream's device. All pointers are to its memory.
inline void convert_values(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                           std::byte* out, std::size_t count, Beyond beyond, Losses* losses) {
  if (stream.kind() == DeviceKind::cuda) {
    convert_values_cuda(stream, from, to, in, out, count, beyond, losses);
    return;
  }
  const Losses found = convert_values_cpu(from, to, in, out, count, beyond, best_simd());
  if (losses != nullptr) *losses += found;
}

}  // namespace ooc::detail::conversion
