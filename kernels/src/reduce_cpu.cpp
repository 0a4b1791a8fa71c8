#include "reduce_tiles.hpp"

#include <ooc/coordinator.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <immintrin.h>

// The loops below are plain C++, written so that the compiler turns each loop over columns into
// vector instructions. They are always inlined into three functions, one for each level of Simd,
// and compiled there for that level: none of them exists on its own, which could be linked into
// code for an older processor.

#define OOC_ALWAYS __attribute__((always_inline))  // for lambdas
#define OOC_INLINE OOC_ALWAYS inline

namespace ooc::reduction {
namespace {

// Rows that are taken into the columns at once, so that sums are loaded and stored less often. A
// block of them fits the first cache, whatever the type.
constexpr std::size_t block_rows = 8;

/// to_double() in a way that every level of Simd has vectors for: both products and terms are
/// exact, the sum is rounded once.
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

/// The narrowest type that holds the sum of a column, which has 256 elements.
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

/// The 256 columns of a tile.
template <class T>
struct Columns {
  using Sum = typename ColumnSum<T>::type;
  using Square = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;

  alignas(64) std::array<Sum, columns> sum{};
  alignas(64) std::array<std::int64_t, columns> sum_high{};  // of 8-byte integers
  alignas(64) std::array<Square, columns> squares{};         // where they are exact
  alignas(64) std::array<T, columns> min;
  alignas(64) std::array<T, columns> max;

  OOC_INLINE Columns() {
    using Limits = std::numeric_limits<T>;
    min.fill(is_floating<T> ? Limits::infinity() : Limits::max());
    max.fill(is_floating<T> ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
  }
};

/// Calls body(0), ..., body(rows - 1), written out: a loop would hide the one around it from the
/// compiler's vectoriser.
template <std::size_t rows, class Body>
OOC_INLINE void for_each_row(Body body) {
  [&]<std::size_t... row>(std::index_sequence<row...>) OOC_ALWAYS {
    (body(row), ...);
  }
  (std::make_index_sequence<rows>{});
}

/// Takes `rows` rows into the first `width` columns.
template <std::size_t rows, bool skip_nan, class T>
OOC_INLINE void add_rows(const T* __restrict data, std::size_t width, Columns<T>& __restrict to) {
#pragma GCC ivdep
  for (std::size_t j = 0; j < width; ++j) {
    auto sum = to.sum[j];
    auto sum_high = to.sum_high[j];
    auto squares = to.squares[j];
    auto min = to.min[j];
    auto max = to.max[j];
    for_each_row<rows>([&](std::size_t row) OOC_ALWAYS {
      const T value = data[row * columns + j];
      min = value < min ? value : min;
      max = value > max ? value : max;
      if constexpr (is_floating<T>) {
        sum += skip_nan && is_nan(value) ? 0.0 : as_double(value);
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
    to.sum_high[j] = sum_high;
    to.squares[j] = squares;
    to.min[j] = min;
    to.max[j] = max;
  }
}

using Squares = std::array<double, columns>;

/// Adds the squared distances of `rows` rows to `mean`.
template <std::size_t rows, bool skip_nan, class T>
OOC_INLINE void add_squares(const T* __restrict data, std::size_t width, double mean,
                            Squares& __restrict squares) {
  for (std::size_t j = 0; j < width; ++j) {
    double sum = squares[j];
    for_each_row<rows>([&](std::size_t row) OOC_ALWAYS {
      const T value = data[row * columns + j];
      const double distance = as_double(value) - mean;
      sum += skip_nan && is_nan(value) ? 0.0 : distance * distance;
    });
    squares[j] = sum;
  }
}

/// Calls body(integral_constant rows, offset, width) for blocks of rows that cover the tile.
template <class Body>
OOC_INLINE void for_each_block(std::size_t count, Body body) {
  using Block = std::integral_constant<std::size_t, block_rows>;
  using Row = std::integral_constant<std::size_t, 1>;
  std::size_t i = 0;
  for (; i + block_rows * columns <= count; i += block_rows * columns) body(Block{}, i, columns);
  for (; i + columns <= count; i += columns) body(Row{}, i, columns);
  if (i < count) body(Row{}, i, count - i);
}

OOC_INLINE double add_columns(std::array<double, columns>& sums) {
  for (std::size_t s = columns / 2; s > 0; s /= 2) {
    for (std::size_t j = 0; j < s; ++j) sums[j] += sums[j + s];
  }
  return sums[0];
}

/// A tile, and the whole one that follows it, if any.
template <class T>
struct Tile {
  const T* data;
  std::size_t size;
  const T* next;
};

/// Asks for a block of the next tile while this one is computed on. The processor does not do so
/// well enough by itself, since the loops above read eight places at a time.
template <class T>
OOC_INLINE void prefetch_next(const Tile<T>& tile, std::size_t block) {
  constexpr std::size_t line = 64 / sizeof(T);
  if (tile.next == nullptr) return;
  for (std::size_t i = 0; i < block_rows * columns; i += line) {
    __builtin_prefetch(tile.next + block + i, 0, 2);
  }
}

template <bool skip_nan, class T>
OOC_INLINE void look(const Tile<T>& tile, Columns<T>& to) {
  for_each_block(tile.size, [&](auto rows, std::size_t first, std::size_t width) OOC_ALWAYS {
    if (has_exact_squares<T> && rows > 1) prefetch_next(tile, first);
    add_rows<rows(), skip_nan>(tile.data + first, width, to);
  });
}

template <bool skip_nan, class T>
OOC_INLINE double look_again(const Tile<T>& tile, double mean) {
  alignas(64) Squares squares{};
  for_each_block(tile.size, [&](auto rows, std::size_t first, std::size_t width) OOC_ALWAYS {
    if (rows > 1) prefetch_next(tile, first);
    add_squares<rows(), skip_nan>(tile.data + first, width, mean, squares);
  });
  return add_columns(squares);
}

/// The first index for which `matches` holds, or nowhere.
template <class T, class Predicate>
OOC_INLINE std::uint32_t find_first(const Tile<T>& tile, Predicate matches) {
  std::size_t i = 0;
  for (; i + columns <= tile.size; i += columns) {
    unsigned any = 0;
    for (std::size_t j = 0; j < columns; ++j) any |= matches(tile.data[i + j]) ? 1u : 0u;
    if (any != 0) break;
  }
  for (; i < tile.size; ++i) {
    if (matches(tile.data[i])) return static_cast<std::uint32_t>(i);
  }
  return nowhere;
}

template <class T>
OOC_INLINE std::uint32_t find_value(const Tile<T>& tile, T wanted) {
  return find_first(tile, [wanted](T value) OOC_ALWAYS {
    if constexpr (is_floating<T>) {
      using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      return std::bit_cast<Bits>(value) == std::bit_cast<Bits>(wanted);
    } else {
      return value == wanted;
    }
  });
}

struct Placed {
  std::uint64_t key;
  std::uint32_t index = nowhere;
};

/// Finds where a minimum or maximum is first, if that may matter, and the sign of one that is zero:
/// the comparisons above take the two zeros for one. `outer_zero` is the more extreme of them. So a
/// third look is rare: few tiles beat all that their lane has met before.
template <class T, class MayMatter>
OOC_INLINE Placed place(const Tile<T>& tile, T value, T outer_zero, MayMatter may_matter) {
  if (is_floating<T> && value == T{0}) {
    Placed outer{order_key(outer_zero)};
    if (!may_matter(outer.key)) return outer;
    outer.index = find_value(tile, outer_zero);
    if (outer.index != nowhere) return outer;
    value = static_cast<T>(-outer_zero);
  }
  const std::uint64_t key = order_key(value);
  if (!may_matter(key)) return {key};
  return {key, find_value(tile, value)};
}

template <class T>
OOC_INLINE void place_extremes(const Tile<T>& tile, const Columns<T>& seen, CpuLane& lane,
                               TileResult& result) {
  if (result.nan == tile.size) return;
  const Placed min =
      place(tile, *std::min_element(seen.min.begin(), seen.min.end()), static_cast<T>(-T{0}),
            [&lane](std::uint64_t key) OOC_ALWAYS { return !lane.any || key < lane.min_key; });
  const Placed max =
      place(tile, *std::max_element(seen.max.begin(), seen.max.end()), T{0},
            [&lane](std::uint64_t key) OOC_ALWAYS { return !lane.any || key > lane.max_key; });
  result.min_key = min.key;
  result.max_key = max.key;
  result.argmin = min.index;
  result.argmax = max.index;
  if (min.index != nowhere) lane.min_key = min.key;
  if (max.index != nowhere) lane.max_key = max.key;
  lane.any = true;
}

/// A tile of floating type that holds NaN, or infinities of both signs.
template <class T>
OOC_INLINE void reduce_around_nan(const Tile<T>& tile, CpuLane& lane, TileResult& result) {
  for (std::size_t i = 0; i < tile.size; ++i) result.nan += is_nan(tile.data[i]) ? 1u : 0u;
  if (result.nan > 0 && !lane.nan) {
    const auto nan = [](T value) OOC_ALWAYS { return is_nan(value); };
    result.first_nan = find_first(tile, nan);
    lane.nan = true;
  }
  Columns<T> seen;
  look<true>(tile, seen);
  result.sum = add_columns(seen.sum);
  if (result.nan < tile.size) {
    const double mean = result.sum / static_cast<double>(tile.size - result.nan);
    result.m2 = look_again<true>(tile, mean);
  }
  place_extremes(tile, seen, lane, result);
}

template <class T>
OOC_INLINE void reduce_floating(const Tile<T>& tile, CpuLane& lane, TileResult& result) {
  Columns<T> seen;
  look<false>(tile, seen);
  result.sum = add_columns(seen.sum);
  if (is_nan(result.sum)) {
    reduce_around_nan(tile, lane, result);
    return;
  }
  result.m2 = look_again<false>(tile, result.sum / static_cast<double>(tile.size));
  place_extremes(tile, seen, lane, result);
}

template <class T>
OOC_INLINE void reduce_integers(const Tile<T>& tile, CpuLane& lane, TileResult& result) {
  Columns<T> seen;
  look<false>(tile, seen);
  for (std::size_t j = 0; j < columns; ++j) {
    result.sum_low += static_cast<std::int64_t>(seen.sum[j]);
    result.sum_high += seen.sum_high[j];
    result.squares += seen.squares[j];
  }
  if constexpr (!has_exact_squares<T>) {
    const double mean = mean_of_integers(result.sum_high, result.sum_low, tile.size);
    result.m2 = look_again<false>(tile, mean);
  }
  place_extremes(tile, seen, lane, result);
}

[[gnu::target("avx,f16c")]] void convert_f16c(const Float16* from, std::size_t count, float* to) {
  constexpr std::size_t lanes = 8;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

/// Two-byte floats become floats, exactly, before anything else.
template <Simd simd, class T>
OOC_INLINE void convert(const T* from, std::size_t count, float* to) {
  if constexpr (simd != Simd::sse2 && std::is_same_v<T, Float16>) {
    convert_f16c(from, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
  }
}

template <Simd simd, class T>
OOC_INLINE void reduce_tiles(const T* data, std::size_t count, CpuLane& lane,
                             std::span<TileResult> results) {
  for (TileResult& result : results) {
    const std::size_t size = std::min(count, tile_elements);
    result = {};
    if constexpr (is_floating<T> && sizeof(T) == 2) {
      convert<simd>(data, size, lane.converted.data());
      reduce_floating(Tile<float>{lane.converted.data(), size, nullptr}, lane, result);
    } else {
      const Tile<T> tile{data, size, count >= 2 * tile_elements ? data + tile_elements : nullptr};
      if constexpr (is_floating<T>) {
        reduce_floating(tile, lane, result);
      } else {
        reduce_integers(tile, lane, result);
      }
    }
    data += size;
    count -= size;
  }
}

template <class T>
void reduce_sse2(const T* data, std::size_t count, CpuLane& lane, std::span<TileResult> results) {
  reduce_tiles<Simd::sse2>(data, count, lane, results);
}

template <class T>
[[gnu::target("avx2,f16c")]] void reduce_avx2(const T* data, std::size_t count, CpuLane& lane,
                                              std::span<TileResult> results) {
  reduce_tiles<Simd::avx2>(data, count, lane, results);
}

template <class T>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] void
reduce_avx512(const T* data, std::size_t count, CpuLane& lane, std::span<TileResult> results) {
  reduce_tiles<Simd::avx512>(data, count, lane, results);
}

}  // namespace

void reduce_tiles_cpu(ElementType type, const std::byte* data, std::size_t count, Simd simd,
                      CpuLane& lane, std::span<TileResult> results) {
  visit(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_floating<T> && sizeof(T) == 2) lane.converted.resize(tile_elements);
    const T* elements = reinterpret_cast<const T*>(data);
    switch (simd) {
      case Simd::sse2: return reduce_sse2(elements, count, lane, results);
      case Simd::avx2: return reduce_avx2(elements, count, lane, results);
      case Simd::avx512: return reduce_avx512(elements, count, lane, results);
    }
  });
}

}  // namespace ooc::reduction
