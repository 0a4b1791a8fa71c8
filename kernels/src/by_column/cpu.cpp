#include "by_column/tile.hpp"
#include "reduce/columns.hpp"
#include "reduce/extremes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ooc::detail::by_column {
namespace {

using reduction::Columns;
using reduction::Strip;

/// Columns that are reduced at a time: a tile of so many lies in the second cache. A phase of a
/// column is a column of reduction::Columns.
constexpr std::size_t band_columns = 32;
constexpr std::size_t most_sums = phases * band_columns;

/// Some columns of a tile, one row after another.
template <class T>
struct Band {
  const T* data;
  std::size_t rows, columns;

  std::size_t sums() const { return phases * columns; }
};

/// One column of a band.
template <class T>
struct ColumnView {
  const T* data;
  std::size_t size, stride;

  OOC_INLINE T at(std::size_t row) const { return data[row * stride]; }

  /// Returns the first row for which `matches` is true, or nowhere.
  template <class Predicate>
  OOC_INLINE std::uint32_t find(Predicate matches) const {
    for (std::size_t row = 0; row < size; ++row) {
      if (matches(at(row))) return static_cast<std::uint32_t>(row);
    }
    return reduction::nowhere;
  }
};

using Doubles = std::array<double, most_sums>;

template <bool skip_nan, class T>
OOC_INLINE void look(const Band<T>& band, Columns<T, most_sums>& to) {
  reduction::for_each_strip(band.sums(), band.rows * band.columns,
                            [&](auto rows, Strip strip) OOC_ALWAYS {
                              reduction::add_rows<rows(), skip_nan>(band.data, strip, to);
                            });
  if constexpr (is_floating<T>) reduction::add_halves(to.sum.data(), band.sums(), band.columns);
  for (std::size_t s = band.sums() / 2; s >= band.columns; s /= 2) {
    for (std::size_t j = 0; j < s; ++j) {
      to.min[j] = std::min(to.min[j], to.min[j + s]);
      to.max[j] = std::max(to.max[j], to.max[j + s]);
    }
  }
}

/// Adds the squared distances from the means of all columns, the first elements of `means`.
template <bool skip_nan, class T>
OOC_INLINE void look_again(const Band<T>& band, Doubles& means, Doubles& squares) {
  for (std::size_t j = band.columns; j < band.sums(); ++j) means[j] = means[j - band.columns];
  std::fill_n(squares.begin(), band.sums(), 0.0);
  const auto mean_of = [&means](std::size_t j) OOC_ALWAYS { return means[j]; };
  reduction::for_each_strip(
      band.sums(), band.rows * band.columns, [&](auto rows, Strip strip) OOC_ALWAYS {
        reduction::add_squares<rows(), skip_nan>(band.data, strip, mean_of, squares.data());
      });
  reduction::add_halves(squares.data(), band.sums(), band.columns);
}

template <class T>
OOC_INLINE ColumnView<T> column_of(const Band<T>& band, std::size_t column) {
  return {band.data + column, band.rows, band.columns};
}

/// Counts NaN, and finds the first ones.
template <class T>
OOC_INLINE void count_nan(const Band<T>& band, std::span<reduction::SeenExtremes> seen,
                          std::span<TileResult> results) {
  for (std::size_t c = 0; c < band.columns; ++c) {
    const ColumnView<T> column = column_of(band, c);
    std::uint32_t count = 0;
    for (std::size_t row = 0; row < column.size; ++row) {
      count += reduction::is_nan(column.at(row)) ? 1u : 0u;
    }
    results[c].nan = count;
    if (count == 0 || seen[c].nan) continue;
    results[c].first_nan = column.find([](T value) OOC_ALWAYS { return reduction::is_nan(value); });
    seen[c].nan = true;
  }
}

template <bool skip_nan, class T>
OOC_INLINE void add_floating(const Band<T>& band, Columns<T, most_sums>& sums,
                             std::span<TileResult> results) {
  look<skip_nan>(band, sums);
  alignas(64) Doubles means, squares;
  for (std::size_t c = 0; c < band.columns; ++c) {
    means[c] = sums.sum[c] / static_cast<double>(band.rows - results[c].nan);
  }
  look_again<skip_nan>(band, means, squares);
  for (std::size_t c = 0; c < band.columns; ++c) {
    results[c].sum = sums.sum[c];
    results[c].m2 = squares[c];
  }
}

template <class T>
OOC_INLINE void reduce_floating(const Band<T>& band, Columns<T, most_sums>& sums,
                                std::span<reduction::SeenExtremes> seen,
                                std::span<TileResult> results) {
  add_floating<false>(band, sums, results);
  // A sum is NaN if there is one, or if there are infinities of both signs.
  double any = 0;
  for (std::size_t c = 0; c < band.columns; ++c) any += results[c].sum;
  if (!reduction::is_nan(any)) return;
  count_nan(band, seen, results);
  sums = Columns<T, most_sums>(band.sums());
  add_floating<true>(band, sums, results);
}

template <class T>
OOC_INLINE void reduce_integers(const Band<T>& band, Columns<T, most_sums>& sums,
                                std::span<TileResult> results) {
  look<false>(band, sums);
  for (std::size_t phase = 0; phase < phases; ++phase) {
    for (std::size_t c = 0; c < band.columns; ++c) {
      const std::size_t j = phase * band.columns + c;
      results[c].sum_low += static_cast<std::int64_t>(sums.sum[j]);
      if constexpr (sizeof(T) == 8) results[c].sum_high += sums.sum_high[j];
      if constexpr (reduction::has_exact_squares<T>) results[c].squares += sums.squares[j];
    }
  }
  if constexpr (!reduction::has_exact_squares<T>) {
    alignas(64) Doubles means, squares;
    for (std::size_t c = 0; c < band.columns; ++c) {
      means[c] = reduction::mean_of_integers(results[c].sum_high, results[c].sum_low, band.rows);
    }
    look_again<false>(band, means, squares);
    for (std::size_t c = 0; c < band.columns; ++c) results[c].m2 = squares[c];
  }
}

template <class T>
OOC_INLINE void reduce_band(const Band<T>& band, std::span<reduction::SeenExtremes> seen,
                            std::span<TileResult> results) {
  Columns<T, most_sums> sums(band.sums());
  std::ranges::fill(results, TileResult{});
  if constexpr (is_floating<T>) {
    reduce_floating(band, sums, seen, results);
  } else {
    reduce_integers(band, sums, results);
  }
  for (std::size_t c = 0; c < band.columns; ++c) {
    reduction::locate_extremes(column_of(band, c), sums.min[c], sums.max[c], seen[c], results[c]);
  }
}

/// Type of the elements of a band: two-byte floats are converted to floats, which is exact.
template <class T>
using BandElement = std::conditional_t<is_floating<T> && sizeof(T) == 2, float, T>;

/// Copies `columns` columns of some rows to where they lie one after another.
template <class T>
OOC_INLINE void pack(const T* from, std::size_t rows, std::size_t row, std::size_t columns,
                     BandElement<T>* to) {
  for (std::size_t i = 0; i < rows; ++i, from += row, to += columns) {
    for (std::size_t j = 0; j < columns; ++j) to[j] = static_cast<BandElement<T>>(from[j]);
  }
}

template <class T>
OOC_INLINE void reduce_rows(const Rows& rows, CpuLane& lane, std::span<TileResult> results) {
  using Element = BandElement<T>;
  const auto* data = reinterpret_cast<const T*>(rows.data);
  auto* const packed = reinterpret_cast<Element*>(lane.packed.data());
  const bool is_whole = std::is_same_v<T, Element> && rows.columns <= band_columns;
  for (std::size_t row = 0; row < rows.count; row += rows.tile) {
    const std::size_t size = std::min(rows.tile, rows.count - row);
    for (std::size_t c = 0; c < rows.columns; c += band_columns) {
      const std::size_t width = std::min(band_columns, rows.columns - c);
      const T* const from = data + row * rows.columns + c;
      if (!is_whole) pack(from, size, rows.columns, width, packed);
      const auto* const band = is_whole ? reinterpret_cast<const Element*>(from) : packed;
      reduce_band(Band<Element>{band, size, width}, std::span(lane.seen).subspan(c, width),
                  results.subspan(row / rows.tile * rows.columns + c, width));
    }
  }
}

template <class T>
void reduce_sse2(const Rows& rows, CpuLane& lane, std::span<TileResult> results) {
  reduce_rows<T>(rows, lane, results);
}

template <class T>
[[gnu::target("avx2,f16c")]] void reduce_avx2(const Rows& rows, CpuLane& lane,
                                              std::span<TileResult> results) {
  reduce_rows<T>(rows, lane, results);
}

template <class T>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] void
reduce_avx512(const Rows& rows, CpuLane& lane, std::span<TileResult> results) {
  reduce_rows<T>(rows, lane, results);
}

}  // namespace

void reduce_tiles_cpu(ElementType type, const Rows& rows, Simd simd, CpuLane& lane,
                      std::span<TileResult> results) {
  visit(type, [&]<class T>(std::type_identity<T>) {
    lane.packed.resize(rows.tile * band_columns * sizeof(BandElement<T>));
    switch (simd) {
      case Simd::sse2: return reduce_sse2<T>(rows, lane, results);
      case Simd::avx2: return reduce_avx2<T>(rows, lane, results);
      case Simd::avx512: return reduce_avx512<T>(rows, lane, results);
    }
  });
}

}  // namespace ooc::detail::by_column
