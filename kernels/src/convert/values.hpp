#pragma once

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>

// Conversion of arrays from any element type to any other, in this machine's byte order;
// element.hpp defines it. Input and output must not overlap.

namespace ooc::detail::conversion {

/// Numbers of elements whose value changes. Each element is counted once.
struct Losses {
  std::uint64_t rounded = 0;     // became another value nearby
  std::uint64_t overflowed = 0;  // outside the type's range: now infinite, or another integer
  std::uint64_t clipped = 0;     // out of range: now the largest or smallest finite value

  std::uint64_t all() const { return rounded + overflowed + clipped; }

  Losses& operator+=(const Losses& other) {
    rounded += other.rounded;
    overflowed += other.overflowed;
    clipped += other.clipped;
    return *this;
  }
};

/// Treatment of values outside the type's range: as in convert(), or clipped to the nearest value.
enum class Beyond { convert, clip };

/// Converts `count` elements and counts the losses.
Losses convert_values_cpu(ElementType from, ElementType to, const std::byte* in, std::byte* out,
                          std::size_t count, Beyond beyond, Simd simd);

/// Enqueues the same conversion for arrays in device memory. Adds the losses to `*losses`, also in
/// device memory, unless that is null.
void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, Beyond beyond, Losses* losses);

/// Calls the function for the stream's device. All pointers are to the memory of that device.
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
