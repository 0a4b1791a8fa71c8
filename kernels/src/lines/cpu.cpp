#include "lines/lines.hpp"
#include "reduce/columns.hpp"
#include "reduce/extremes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ooc::detail::lines {
namespace {

using reduction::Columns;
using reduction::SeenExtremes;
using reduction::Strip;

/// Sums of the lines that are reduced at a time. A phase of a line is a column of
/// reduction::Columns. A tile of 32 lines with 32 phases lies in the second cache.
constexpr std::size_t most_sums = 1024;

/// A tile of some lines: their first elements, then their second ones, and so on.
template <class T>
struct Band {
  const T* data;
  std::size_t length, lines, phases;
  bool squares;

  std::size_t sums() const { return phases * lines; }
};

/// One line of a band.
template <class T>
struct LineView {
  const T* data;
  std::size_t size, step;

  OOC_INLINE T at(std::size_t index) const { return data[index * step]; }

  /// Returns the first index for which `matches` is true, or nowhere.
  template <class Predicate>
  OOC_INLINE std::uint32_t find(Predicate matches) const {
    std::size_t i = step == 1 ? first_block(matches) : 0;
    for (; i < size; ++i) {
      if (matches(at(i))) return static_cast<std::uint32_t>(i);
    }
    return reduction::nowhere;
  }

 private:
  /// Returns the first index of the first block of elements that lie together with a match, or of
  /// the rest.
  template <class Predicate>
  OOC_INLINE std::size_t first_block(Predicate matches) const {
    constexpr std::size_t block = 64;
    std::size_t i = 0;
    for (; i + block <= size; i += block) {
      unsigned any = 0;
      for (std::size_t j = 0; j < block; ++j) any |= matches(data[i + j]) ? 1u : 0u;
      if (any != 0) break;
    }
    return i;
  }
};

/// Lines that are reduced at a time. A long line that lies together is one of its own, without a
/// copy; its sums are enough for vectors.
std::size_t band_lines(const Lines& lines) {
  constexpr std::size_t long_line = 64;
  return lines.step == 1 && lines.length >= long_line ? 1 : most_sums / lines.phases;
}

/// True if lines lie as those of a band do: side by side, or one alone.
bool is_band(const Lines& lines) {
  const bool side_by_side = lines.stride == 1 && lines.step == lines.count;
  return (side_by_side && lines.count <= band_lines(lines)) || band_lines(lines) == 1;
}

using Doubles = std::array<double, most_sums>;

template <bool skip_nan, class T>
OOC_INLINE void look(const Band<T>& band, Columns<T, most_sums>& to) {
  reduction::for_each_strip(band.sums(), band.length * band.lines,
                            [&](auto rows, Strip strip) OOC_ALWAYS {
                              reduction::add_rows<rows(), skip_nan>(band.data, strip, to);
                            });
  if constexpr (is_floating<T>) reduction::add_halves(to.sum.data(), band.sums(), band.lines);
  for (std::size_t s = band.sums() / 2; s >= band.lines; s /= 2) {
    for (std::size_t j = 0; j < s; ++j) {
      to.min[j] = std::min(to.min[j], to.min[j + s]);
      to.max[j] = std::max(to.max[j], to.max[j + s]);
    }
  }
}

/// Adds the squared distances from the means of all lines, the first elements of `means`.
template <bool skip_nan, class T>
OOC_INLINE void look_again(const Band<T>& band, Doubles& means, Doubles& squares) {
  for (std::size_t j = band.lines; j < band.sums(); ++j) means[j] = means[j - band.lines];
  std::fill_n(squares.begin(), band.sums(), 0.0);
  const auto mean_of = [&means](std::size_t j) OOC_ALWAYS { return means[j]; };
  reduction::for_each_strip(
      band.sums(), band.length * band.lines, [&](auto rows, Strip strip) OOC_ALWAYS {
        reduction::add_squares<rows(), skip_nan>(band.data, strip, mean_of, squares.data());
      });
  reduction::add_halves(squares.data(), band.sums(), band.lines);
}

template <class T>
OOC_INLINE LineView<T> line_of(const Band<T>& band, std::size_t line) {
  return {band.data + line, band.length, band.lines};
}

/// Counts NaN, and finds the first ones.
template <class T>
OOC_INLINE void count_nan(const Band<T>& band, std::span<SeenExtremes> seen,
                          std::span<TileResult> results) {
  for (std::size_t c = 0; c < band.lines; ++c) {
    const LineView<T> line = line_of(band, c);
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < line.size; ++i) {
      count += reduction::is_nan(line.at(i)) ? 1u : 0u;
    }
    results[c].nan = count;
    if (count == 0 || seen[c].nan) continue;
    results[c].first_nan = line.find([](T value) OOC_ALWAYS { return reduction::is_nan(value); });
    seen[c].nan = true;
  }
}

template <bool skip_nan, class T>
OOC_INLINE void add_floating(const Band<T>& band, Columns<T, most_sums>& sums,
                             std::span<TileResult> results) {
  look<skip_nan>(band, sums);
  for (std::size_t c = 0; c < band.lines; ++c) results[c].sum = sums.sum[c];
  if (!band.squares) return;
  alignas(64) Doubles means, squares;
  for (std::size_t c = 0; c < band.lines; ++c) {
    means[c] = sums.sum[c] / static_cast<double>(band.length - results[c].nan);
  }
  look_again<skip_nan>(band, means, squares);
  for (std::size_t c = 0; c < band.lines; ++c) results[c].m2 = squares[c];
}

template <class T>
OOC_INLINE void reduce_floating(const Band<T>& band, Columns<T, most_sums>& sums,
                                std::span<SeenExtremes> seen, std::span<TileResult> results) {
  add_floating<false>(band, sums, results);
  // A sum is NaN if there is one, or if there are infinities of both signs.
  double any = 0;
  for (std::size_t c = 0; c < band.lines; ++c) any += results[c].sum;
  if (!reduction::is_nan(any)) return;
  count_nan(band, seen, results);
  sums = Columns<T, most_sums>(band.sums());
  add_floating<true>(band, sums, results);
}

/// Calls take(line, total) with the sum of the phases of each line.
template <class T, class Sum, class Take>
OOC_INLINE void add_phases(const Band<T>& band, const std::array<Sum, most_sums>& sums, Take take) {
  if (band.lines == 1) {  // a loop that the compiler vectorises
    std::int64_t total = 0;
    for (std::size_t j = 0; j < band.phases; ++j) total += static_cast<std::int64_t>(sums[j]);
    return take(0, total);
  }
  alignas(64) std::array<std::int64_t, most_sums> totals;
  std::fill_n(totals.begin(), band.lines, 0);
  for (std::size_t j = 0; j < band.sums(); j += band.lines) {
    for (std::size_t c = 0; c < band.lines; ++c) {
      totals[c] += static_cast<std::int64_t>(sums[j + c]);
    }
  }
  for (std::size_t c = 0; c < band.lines; ++c) take(c, totals[c]);
}

template <class T>
OOC_INLINE void reduce_integers(const Band<T>& band, Columns<T, most_sums>& sums,
                                std::span<TileResult> results) {
  look<false>(band, sums);
  add_phases(band, sums.sum, [results](std::size_t c, std::int64_t total) OOC_ALWAYS {
    results[c].sum_low = total;
  });
  if constexpr (sizeof(T) == 8) {
    add_phases(band, sums.sum_high, [results](std::size_t c, std::int64_t total) OOC_ALWAYS {
      results[c].sum_high = total;
    });
  }
  if constexpr (reduction::has_exact_squares<T>) {
    add_phases(band, sums.squares, [results](std::size_t c, std::int64_t total) OOC_ALWAYS {
      results[c].squares = static_cast<std::uint64_t>(total);
    });
  }
  if constexpr (!reduction::has_exact_squares<T>) {
    if (!band.squares) return;
    alignas(64) Doubles means, squares;
    for (std::size_t c = 0; c < band.lines; ++c) {
      means[c] = reduction::mean_of_integers(results[c].sum_high, results[c].sum_low, band.length);
    }
    look_again<false>(band, means, squares);
    for (std::size_t c = 0; c < band.lines; ++c) results[c].m2 = squares[c];
  }
}

template <class T>
OOC_INLINE void reduce_band(const Band<T>& band, std::span<SeenExtremes> seen,
                            std::span<TileResult> results) {
  Columns<T, most_sums> sums(band.sums());
  std::ranges::fill(results, TileResult{});
  if constexpr (is_floating<T>) {
    reduce_floating(band, sums, seen, results);
  } else {
    reduce_integers(band, sums, results);
  }
  for (std::size_t c = 0; c < band.lines; ++c) {
    reduction::locate_extremes(line_of(band, c), sums.min[c], sums.max[c], seen[c], results[c]);
  }
}

/// Type of the elements of a band: two-byte floats are converted to floats, which is exact.
template <class T>
using BandElement = std::conditional_t<is_floating<T> && sizeof(T) == 2, float, T>;

/// Copies `lines` lines to where their elements lie beside each other.
template <class T>
OOC_INLINE void pack(const T* from, const Lines& of, std::size_t length, std::size_t lines,
                     BandElement<T>* to) {
  if (of.step == 1) {  // then each line is read as it lies
    for (std::size_t j = 0; j < lines; ++j, from += of.stride) {
      for (std::size_t i = 0; i < length; ++i) {
        to[i * lines + j] = static_cast<BandElement<T>>(from[i]);
      }
    }
    return;
  }
  for (std::size_t i = 0; i < length; ++i, from += of.step, to += lines) {
    for (std::size_t j = 0; j < lines; ++j) {
      to[j] = static_cast<BandElement<T>>(from[j * of.stride]);
    }
  }
}

template <class T>
OOC_INLINE void reduce_lines(const Lines& lines, std::span<SeenExtremes> seen, std::byte* packed,
                             std::span<TileResult> results) {
  using Element = BandElement<T>;
  const auto* const data = reinterpret_cast<const T*>(lines.data);
  auto* const copied = reinterpret_cast<Element*>(packed);
  const std::size_t most_lines = band_lines(lines);
  const bool is_whole = std::is_same_v<T, Element> && is_band(lines);
  for (std::size_t tile = 0; tile < lines.tiles(); ++tile) {
    const std::size_t first = tile * lines.tile;
    const std::size_t length = std::min(lines.tile, lines.length - first);
    for (std::size_t line = 0; line < lines.count; line += most_lines) {
      const std::size_t width = std::min(most_lines, lines.count - line);
      const T* const from = data + first * lines.step + line * lines.stride;
      if (!is_whole) pack(from, lines, length, width, copied);
      const auto* const band = is_whole ? reinterpret_cast<const Element*>(from) : copied;
      reduce_band(Band<Element>{band, length, width, lines.phases, lines.squares},
                  seen.subspan(line, width), results.subspan(tile * lines.count + line, width));
    }
  }
}

template <class T>
void reduce_sse2(const Lines& lines, std::span<SeenExtremes> seen, std::byte* packed,
                 std::span<TileResult> results) {
  reduce_lines<T>(lines, seen, packed, results);
}

template <class T>
[[gnu::target("avx2,f16c")]] void reduce_avx2(const Lines& lines, std::span<SeenExtremes> seen,
                                              std::byte* packed, std::span<TileResult> results) {
  reduce_lines<T>(lines, seen, packed, results);
}

template <class T>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] void
reduce_avx512(const Lines& lines, std::span<SeenExtremes> seen, std::byte* packed,
              std::span<TileResult> results) {
  reduce_lines<T>(lines, seen, packed, results);
}

}  // namespace

void reduce_lines_cpu(ElementType type, const Lines& lines, Simd simd, std::span<SeenExtremes> seen,
                      std::vector<std::byte>& packed, std::span<TileResult> results) {
  visit(type, [&]<class T>(std::type_identity<T>) {
    const std::size_t most_elements = std::min(lines.tile, lines.length) * band_lines(lines);
    packed.resize(most_elements * sizeof(BandElement<T>));
    switch (simd) {
      case Simd::sse2: return reduce_sse2<T>(lines, seen, packed.data(), results);
      case Simd::avx2: return reduce_avx2<T>(lines, seen, packed.data(), results);
      case Simd::avx512: return reduce_avx512<T>(lines, seen, packed.data(), results);
    }
  });
}

}  // namespace ooc::detail::lines
