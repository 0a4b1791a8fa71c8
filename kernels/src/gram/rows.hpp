#pragma once

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Rows of elements as rows of doubles, from which a center of each column may be subtracted.

namespace ooc::detail::grams {

/// Rows of elements, one after another.
struct Rows {
  ElementType type;
  const std::byte* data;
  std::size_t count;    // of rows
  std::size_t columns;  // elements of a row
};

/// The center of a column of T. Integers of 64 bits are not doubles, so their center is none, too.
template <class T>
using Center = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, T, double>;
inline constexpr std::size_t center_bytes = 8;

/// Returns `value - center`, rounded once.
template <class T>
constexpr double distance(T value, Center<T> center) {
  if constexpr (std::is_floating_point_v<Center<T>>) {
    return to_double(value) - center;
  } else {
    const bool is_below = value < center;
    const auto left = static_cast<std::uint64_t>(value), right = static_cast<std::uint64_t>(center);
    const auto size = static_cast<double>(is_below ? right - left : left - right);
    return is_below ? -size : size;
  }
}

/// Writes rows as doubles. `centers`: those of all columns, to be subtracted; or null.
void fill_rows_cpu(const Rows& rows, const std::byte* centers, double* out);

/// Enqueues the same in device memory.
void fill_rows_cuda(Stream& stream, const Rows& rows, const std::byte* centers, double* out);

}  // namespace ooc::detail::grams
