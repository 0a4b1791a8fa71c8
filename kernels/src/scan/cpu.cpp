#include "scan/rules.hpp"

#include <ooc/detail/kernels/simd.hpp>

#include <algorithm>
#include <array>

namespace ooc::detail::scanning {

namespace {

#define OOC_SCAN_INLINE [[gnu::always_inline]] inline
#define OOC_SCAN_ALWAYS __attribute__((always_inline))

/// Rows of floats that are combined at a time, since each element of one waits for the element
/// before. Integers are combined one after another, which takes a cycle for each.
constexpr std::size_t several_rows = 8;

/// Type of the elements of rows: floats of two bytes are converted first, which uses vectors.
template <class Rule>
inline constexpr bool is_converted = std::is_same_v<typename Rule::Value, double> &&
                                     sizeof(typename Rule::Element) == 2;
template <class Rule>
using RowElement = std::conditional_t<is_converted<Rule>, float, typename Rule::Element>;

template <class Rule>
OOC_SCAN_INLINE typename Rule::Value value_of(RowElement<Rule> element) {
  if constexpr (is_converted<Rule>) {
    return element;
  } else {
    return Rule::value_of(element);
  }
}

/// Combines the elements of `rows` rows of `length` elements each, whose totals so far are
/// `totals`.
template <class Rule, bool exclusive, std::size_t rows>
OOC_SCAN_INLINE void scan_rows(const RowElement<Rule>* __restrict in,
                               typename Rule::Value* __restrict out, std::size_t length,
                               std::array<typename Rule::Value, rows>& totals) {
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t place = row * row_elements + i;
      const auto value = value_of<Rule>(in[place]);
      if constexpr (exclusive) out[place] = totals[row];
      totals[row] = Rule::combine(totals[row], value);
      if constexpr (!exclusive) out[place] = totals[row];
    }
  }
}

/// Writes the results of `rows` rows. Returns the total of the tile after them.
template <class Rule, bool exclusive, std::size_t rows>
OOC_SCAN_INLINE typename Rule::Value take_rows(const RowElement<Rule>* in,
                                               typename Rule::Value* out, std::size_t length,
                                               typename Rule::Value total) {
  std::array<typename Rule::Value, rows> totals;
  totals.fill(Rule::nothing());
  scan_rows<Rule, exclusive, rows>(in, out, length, totals);
  for (const auto of_row : totals) {
    for (std::size_t i = 0; i < length; ++i) out[i] = Rule::combine(total, out[i]);
    total = Rule::combine(total, of_row);
    out += length;
  }
  return total;
}

/// Calls `take(rows, i, length)` for rows from element i on: several at a time, as far as there are
/// whole ones.
template <class Take>
OOC_SCAN_INLINE void for_rows(std::size_t count, const Take& take) {
  constexpr std::size_t at_once = several_rows * row_elements;
  std::size_t i = 0;
  for (; count - i >= at_once; i += at_once) {
    take(std::integral_constant<std::size_t, several_rows>{}, i, row_elements);
  }
  for (; i < count; i += row_elements) {
    take(std::integral_constant<std::size_t, 1>{}, i, std::min(row_elements, count - i));
  }
}

/// Writes the results of a tile alone. Returns its total.
template <class Rule, bool exclusive>
OOC_SCAN_INLINE typename Rule::Value scan_tile(const typename Rule::Element* in,
                                               typename Rule::Value* out, std::size_t count) {
  auto total = Rule::nothing();
  if constexpr (!is_floating<typename Rule::Element>) {
    std::array totals{total};
    scan_rows<Rule, exclusive, 1>(in, out, count, totals);
    total = totals.front();
  } else {
    for_rows(count, [&](auto rows, std::size_t i, std::size_t length) OOC_SCAN_ALWAYS {
      if constexpr (is_converted<Rule>) {
        std::array<float, rows() * row_elements> converted;
        for (std::size_t j = 0; j < rows() * length; ++j) {
          converted[j] = static_cast<float>(in[i + j]);
        }
        total = take_rows<Rule, exclusive, rows()>(converted.data(), out + i, length, total);
      } else {
        total = take_rows<Rule, exclusive, rows()>(in + i, out + i, length, total);
      }
    });
  }
  if constexpr (exclusive) out[place_of_total(true, count)] = total;
  return total;
}

template <class Rule, bool exclusive>
OOC_SCAN_INLINE void begin(const Partition& partition, Carry& own) {
  const auto* const in = reinterpret_cast<const typename Rule::Element*>(partition.in);
  auto* const out = reinterpret_cast<typename Rule::Value*>(partition.out);
  own.tiles = 0;
  for (std::size_t i = 0; i < partition.count; i += tile_elements) {
    const std::size_t count = std::min(tile_elements, partition.count - i);
    own.totals[own.tiles++] = bits_of(scan_tile<Rule, exclusive>(in + i, out + i, count));
  }
}

template <class Rule>
OOC_SCAN_INLINE void finish_tile(typename Rule::Total before, typename Rule::Value* __restrict out,
                                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = Rule::result_of(Rule::add(before, out[i]));
}

template <class Rule, bool exclusive>
OOC_SCAN_INLINE void finish(const Partition& partition, const Carry& before) {
  auto* out = reinterpret_cast<typename Rule::Value*>(partition.out);
  auto total = total_in<Rule>(before);
  for (std::size_t left = partition.count; left != 0;) {
    const std::size_t count = std::min(tile_elements, left);
    const auto of_tile = out[place_of_total(exclusive, count)];
    if constexpr (exclusive) out[place_of_total(true, count)] = Rule::nothing();
    finish_tile<Rule>(total, out, count);
    total = Rule::add(total, of_tile);
    out += count;
    left -= count;
  }
}

#define OOC_SCAN_AVX2 "avx2,f16c"
#define OOC_SCAN_AVX512 \
  "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512"

template <class Rule, bool exclusive>
void begin_sse2(const Partition& partition, Carry& own) {
  begin<Rule, exclusive>(partition, own);
}
template <class Rule, bool exclusive>
[[gnu::target(OOC_SCAN_AVX2)]] void begin_avx2(const Partition& partition, Carry& own) {
  begin<Rule, exclusive>(partition, own);
}
template <class Rule, bool exclusive>
[[gnu::target(OOC_SCAN_AVX512)]] void begin_avx512(const Partition& partition, Carry& own) {
  begin<Rule, exclusive>(partition, own);
}

template <class Rule, bool exclusive>
void finish_sse2(const Partition& partition, const Carry& before) {
  finish<Rule, exclusive>(partition, before);
}
template <class Rule, bool exclusive>
[[gnu::target(OOC_SCAN_AVX2)]] void finish_avx2(const Partition& partition, const Carry& before) {
  finish<Rule, exclusive>(partition, before);
}
template <class Rule, bool exclusive>
[[gnu::target(OOC_SCAN_AVX512)]] void finish_avx512(const Partition& partition,
                                                    const Carry& before) {
  finish<Rule, exclusive>(partition, before);
}

}  // namespace

void begin_cpu(const Question& question, const Partition& partition, Carry& own) {
  with_rule(question, [&]<class Rule>(Rule, auto exclusive) {
    switch (best_simd()) {
      case Simd::sse2: return begin_sse2<Rule, exclusive()>(partition, own);
      case Simd::avx2: return begin_avx2<Rule, exclusive()>(partition, own);
      case Simd::avx512: return begin_avx512<Rule, exclusive()>(partition, own);
    }
  });
}

void join_cpu(const Question& question, const Carry& before, const Carry& own, Carry& after) {
  with_rule(question,
            [&]<class Rule>(Rule, auto /*exclusive*/) { after = joined<Rule>(before, own); });
}

void finish_cpu(const Question& question, const Partition& partition, const Carry& before) {
  with_rule(question, [&]<class Rule>(Rule, auto exclusive) {
    switch (best_simd()) {
      case Simd::sse2: return finish_sse2<Rule, exclusive()>(partition, before);
      case Simd::avx2: return finish_avx2<Rule, exclusive()>(partition, before);
      case Simd::avx512: return finish_avx512<Rule, exclusive()>(partition, before);
    }
  });
}

}  // namespace ooc::detail::scanning
