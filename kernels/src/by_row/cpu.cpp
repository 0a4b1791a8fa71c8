#include "by_row/row_value.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace ooc::detail::by_row {
namespace {

/// Rows whose results are computed at a time: few enough for the first cache.
constexpr std::size_t rows_at_once = 64;

/// Returns the extremes to begin with, such that only those that are asked for are searched for.
reduction::SeenExtremes seen_before(const Question& asked) {
  const RowValue value = asked.options.value;
  const bool least = value == RowValue::minimum || value == RowValue::argmin;
  const bool most = value == RowValue::maximum || value == RowValue::argmax;
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  return {.min_rank = least ? largest : 0,
          .max_rank = most ? 0 : largest,
          .any = !(least || most),
          .nan = !(least || most)};
}

}  // namespace

void reduce_rows_cpu(const Question& asked, const Rows& rows) {
  const Simd simd = best_simd();
  std::vector<std::byte> packed;
  std::vector<reduction::SeenExtremes> seen;
  std::vector<lines::TileResult> results;
  const std::size_t row_bytes = asked.columns * size_of(asked.type);
  const std::size_t value_bytes = size_of(row_value_type(asked.type, asked.options.value));
  std::byte* out = rows.out;
  for (std::size_t first = 0; first < rows.count; first += rows_at_once) {
    const std::size_t count = std::min(rows.count - first, rows_at_once);
    const lines::Lines some = lines_of(asked, rows.data + first * row_bytes, count);
    seen.assign(count, seen_before(asked));
    results.resize(some.tiles() * count);
    reduce_lines_cpu(asked.type, some, simd, seen, packed, results);
    visit(asked.type, [&]<class T>(std::type_identity<T>) {
      const T* row = reinterpret_cast<const T*>(some.data);
      std::vector<reduction::Node<T>> waiting(some.tiles() > 1 ? some.tiles() : 0);
      for (std::size_t i = 0; i < count; ++i, row += asked.columns, out += value_bytes) {
        const std::uint64_t bits = value_of(asked, row, results.data() + i, count, waiting.data());
        std::memcpy(out, &bits, value_bytes);  // this machine stores the low bytes first
      }
    });
  }
}

}  // namespace ooc::detail::by_row
