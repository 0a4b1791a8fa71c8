#pragma once

#include "reduce/tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Loops over the columns of a tile, for reduce/cpu.cpp and lines/cpu.cpp only. They are plain
// C++, written such that the compiler vectorises each loop over columns. They are always inlined
// into three functions, one for each level of Simd, and compiled there for that level. None of them
// may exist as a separate function: the linker might keep one copy, compiled for a newer processor
// than this one. The build defines OOC_ALWAYS, for lambdas: nothing with sanitizers, which find the
// same, and compile these files in a tenth of the time.

#define OOC_INLINE OOC_ALWAYS inline

namespace ooc::detail::reduction {

// Rows that are added to the columns at a time, so that sums are loaded and stored less often. A
// block of rows fits the first cache for any type.
constexpr std::size_t block_rows = 8;

// Columns of a block that are processed at a time: few, so that computing and prefetching alternate
// often enough to overlap.
constexpr std::size_t strip_columns = 32;

/// to_double() in operations that every level of Simd has for vectors. Both products and terms are
/// exact; the sum is rounded once.
template <class T>
OOC_INLINE double as_double(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    using Half = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    return static_cast<double>(static_cast<Half>(value >> 32)) * 0x1p32 +
           static_cast<double>(static_cast<std::uint32_t>(value));
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
OOC_INLINE bool is_nan(T value) {
  return value != value;
}

/// Returns `term`, or zero if `value` is NaN, by bit operations. A comparison that selects would
/// keep the compiler from using vectors: one of floats might trap, and SSE2 has none for 8 bytes.
OOC_INLINE double unless_nan(double value, double term) {
  constexpr auto infinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  constexpr std::uint64_t magnitude = ~(std::uint64_t{1} << 63);
  const std::uint64_t above = (infinity - (std::bit_cast<std::uint64_t>(value) & magnitude)) >> 63;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(term) & (above - 1));
}

/// The narrowest type that holds the sum of a column of up to 256 elements.
template <class T>
struct ColumnSum {
  using type = std::conditional_t<is_floating<T>, double, std::int64_t>;
};
template <>
struct ColumnSum<std::uint8_t> {
  using type = std::uint16_t;
};
template <>
struct ColumnSum<std::int8_t> {
  using type = std::int16_t;
};
template <>
struct ColumnSum<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct ColumnSum<std::int16_t> {
  using type = std::int32_t;
};

/// Up to `most` columns of a tile.
template <class T, std::size_t most>
struct Columns {
  using Sum = typename ColumnSum<T>::type;
  using Square = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

  alignas(64) std::array<Sum, most> sum;
  alignas(64) std::array<std::int64_t, most> sum_high;  // of 8-byte integers
  alignas(64) std::array<Square, most> squares;         // where they are exact
  alignas(64) std::array<T, most> min;
  alignas(64) std::array<T, most> max;

  /// Clears the first `used` columns, the only ones that are used.
  OOC_INLINE explicit Columns(std::size_t used = most) {
    using Limits = std::numeric_limits<T>;
    std::fill_n(sum.begin(), used, Sum{});
    if constexpr (!is_floating<T> && sizeof(T) == 8) std::fill_n(sum_high.begin(), used, 0);
    if constexpr (has_exact_squares<T>) std::fill_n(squares.begin(), used, Square{});
    std::fill_n(min.begin(), used, is_floating<T> ? Limits::infinity() : Limits::max());
    std::fill_n(max.begin(), used,
                is_floating<T> ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
  }
};

/// Calls body(0), ..., body(rows - 1), unrolled: an inner loop would keep the compiler from
/// vectorising the loop around it.
template <std::size_t rows, class Body>
OOC_INLINE void for_each_row(Body body) {
  [&]<std::size_t... row>(std::index_sequence<row...>) OOC_ALWAYS {
    (body(row), ...);
  }
  (std::make_index_sequence<rows>{});
}

/// Columns `begin` to `end` - 1 of some rows of `width` elements. `offset`: index in the tile of
/// the first row's start.
struct Strip {
  std::size_t width, offset, begin, end;
};

/// Adds `rows` rows to the columns of a strip.
template <std::size_t rows, bool skip_nan, class T, std::size_t most>
OOC_INLINE void add_rows(const T* __restrict tile, Strip strip, Columns<T, most>& __restrict to) {
  const T* const data = tile + strip.offset;
  const std::size_t width = strip.width;
#pragma GCC ivdep
  for (std::size_t j = strip.begin; j < strip.end; ++j) {
    auto sum = to.sum[j];
    auto min = to.min[j];
    auto max = to.max[j];
    std::int64_t sum_high = 0;
    typename Columns<T, most>::Square squares = 0;
    for_each_row<rows>([&](std::size_t row) OOC_ALWAYS {
      const T value = data[row * width + j];
      min = value < min ? value : min;
      max = value > max ? value : max;
      if constexpr (is_floating<T>) {
        const double wide = as_double(value);
        sum += skip_nan ? unless_nan(wide, wide) : wide;
      } else if constexpr (sizeof(T) == 8) {
        sum += static_cast<std::uint32_t>(value);
        sum_high += static_cast<std::int64_t>(value >> 32);
      } else {
        sum = static_cast<decltype(sum)>(sum + value);
      }
      if constexpr (has_exact_squares<T>) {
        const auto wide = static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
        squares += wide * wide;
      }
    });
    to.sum[j] = sum;
    if constexpr (!is_floating<T> && sizeof(T) == 8) to.sum_high[j] += sum_high;
    if constexpr (has_exact_squares<T>) to.squares[j] += squares;
    to.min[j] = min;
    to.max[j] = max;
  }
}

/// Adds the squared distances of `rows` rows from the mean of each column, `mean_of(column)`.
template <std::size_t rows, bool skip_nan, class T, class MeanOf>
OOC_INLINE void add_squares(const T* __restrict tile, Strip strip, MeanOf mean_of,
                            double* __restrict squares) {
  const T* const data = tile + strip.offset;
  const std::size_t width = strip.width;
  for (std::size_t j = strip.begin; j < strip.end; ++j) {
    const double mean = mean_of(j);
    double sum = squares[j];
    for_each_row<rows>([&](std::size_t row) OOC_ALWAYS {
      const T value = data[row * width + j];
      const double wide = as_double(value);
      const double square = (wide - mean) * (wide - mean);
      sum += skip_nan ? unless_nan(wide, square) : square;
    });
    squares[j] = sum;
  }
}

/// Calls body(integral_constant rows, strip) for strips that cover a tile of `count` elements in
/// rows of `width`, a multiple of strip_columns.
template <class Body>
OOC_INLINE void for_each_strip(std::size_t width, std::size_t count, Body body) {
  using Block = std::integral_constant<std::size_t, block_rows>;
  using Row = std::integral_constant<std::size_t, 1>;
  std::size_t i = 0;
  for (; i + block_rows * width <= count; i += block_rows * width) {
    for (std::size_t j = 0; j < width; j += strip_columns) {
      body(Block{}, Strip{width, i, j, j + strip_columns});
    }
  }
  for (; i + width <= count; i += width) body(Row{}, Strip{width, i, 0, width});
  if (i < count) body(Row{}, Strip{width, i, 0, count - i});
}

/// Adds the upper half of `size` sums to the lower one, and so on, until `left` sums are left.
OOC_INLINE void add_halves(double* sums, std::size_t size, std::size_t left) {
  for (std::size_t s = size / 2; s >= left; s /= 2) {
    for (std::size_t j = 0; j < s; ++j) sums[j] += sums[j + s];
  }
}

}  // namespace ooc::detail::reduction
