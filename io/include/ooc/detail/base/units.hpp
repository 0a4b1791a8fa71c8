#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <cstdint>

namespace ooc::detail {

inline constexpr std::size_t KiB = std::size_t{1} << 10;  ///< 1,024 bytes
inline constexpr std::size_t MiB = std::size_t{1} << 20;  ///< 1,024 KiB
inline constexpr std::size_t GiB = std::size_t{1} << 30;  ///< 1,024 MiB

/// Alignment of offset, length and memory of direct I/O (bytes). Sufficient for every disk whose
/// blocks fit in a page of memory.
inline constexpr std::size_t page_bytes = 4096;

/// Returns `value` rounded down to a multiple of `multiple`.
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t multiple) {
  return value - value % multiple;
}

/// Returns `value / divisor`, rounded up.
constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

/// Returns `value` rounded up to a multiple of `multiple`.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

}  // namespace ooc::detail
