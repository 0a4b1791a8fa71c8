#include "verify/row_sums.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace ooc::detail::freivalds {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows are summed in blocks of this many columns: a term is rounded far less often than there are
// columns, and the factors of a block stay in the first cache while all rows of a chunk are
// processed.
constexpr std::size_t block_columns = 256;
// Number of partial sums, used in rotation, since a single sum would wait for each addition.
constexpr std::size_t ways = 2;

void add(Factors& to, const Factors& from) {
  for (std::size_t i = 0; i < vector_count; ++i) to.vectors[i] += from.vectors[i];
  to.magnitude += from.magnitude;
  to.norm += from.norm;
}

void add(RowSums& to, const RowSums& from) {
  add(to.sums, from.sums);
  to.largest = std::max(to.largest, from.largest);
  to.nonfinite += from.nonfinite;
  to.nonfinite_used += from.nonfinite_used;
}

void add_product(Factors& to, double value, const Factors& factors) {
  const double magnitude = std::abs(value);
  for (std::size_t i = 0; i < vector_count; ++i) to.vectors[i] += value * factors.vectors[i];
  to.magnitude += magnitude * factors.magnitude;
  to.norm += magnitude * factors.norm;
}

Factors sum_products(const double* values, const Factors* factors, std::size_t count) {
  std::array<Factors, ways> sums{};
  std::size_t i = 0;
  for (; i + ways <= count; i += ways) {
    for (std::size_t way = 0; way < ways; ++way) {
      add_product(sums[way], values[i + way], factors[i + way]);
    }
  }
  for (; i < count; ++i) add_product(sums[0], values[i], factors[i]);
  for (std::size_t way = 1; way < ways; ++way) add(sums[0], sums[way]);
  return sums[0];
}

/// Returns the largest absolute value, ignoring NaN.
double largest_of(const double* values, std::size_t count) {
  constexpr std::size_t width = 4;
  std::array<double, width> largest{};
  const auto take = [&largest](double value, std::size_t i) {
    const double magnitude = std::abs(value);
    largest[i] = magnitude > largest[i] ? magnitude : largest[i];
  };
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    for (std::size_t k = 0; k < width; ++k) take(values[i + k], k);
  }
  for (; i < count; ++i) take(values[i], 0);
  return std::ranges::max(largest);
}

/// Returns an upper bound on the numbers of pieces. The part of row r that is in tile t is piece r
/// + t. These numbers are unique, since row or tile, or both, increase from one piece to the next.
/// Chunks are whole tiles, so each piece is summed by one lane, which alone writes to it: no
/// results must be merged in the order of chunks.
std::uint64_t pieces_of(std::uint64_t rows, std::uint64_t columns) {
  return rows + divide_up(rows * columns, tile_elements);
}

template <class T>
struct SumPieces {
  using Input = T;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::size_t partition_records = tile_elements;

  struct Partial {
    std::vector<std::uint8_t> nonfinite_columns;  // as in RowPass
    std::array<double, block_columns> values{};   // of one block
  };

  std::uint64_t columns;
  std::span<const Factors> factors;
  double limit;
  std::span<RowSums> pieces;

  void consume(Stream& /*stream*/, DeviceChunk<const T> in, Partial& lane) const {
    assert(in.first % tile_elements == 0);
    const std::uint64_t end = in.first + in.size;
    for (std::uint64_t column = 0; column < columns; column += block_columns) {
      const std::uint64_t width = std::min<std::uint64_t>(block_columns, columns - column);
      for (std::uint64_t row = in.first / columns; row * columns + column < end; ++row) {
        const std::uint64_t block = row * columns + column;
        for (std::uint64_t i = std::max(block, in.first); i < std::min(block + width, end);) {
          const std::uint64_t tile = i / tile_elements;
          const std::uint64_t stop = std::min({block + width, end, (tile + 1) * tile_elements});
          add(pieces[row + tile],
              sum_block(in.data + (i - in.first), i - row * columns, stop - i, lane));
          i = stop;
        }
      }
    }
  }

  void merge(Partial& total, const Partial& part) const {
    const std::vector<std::uint8_t>& found = part.nonfinite_columns;
    if (found.empty()) return;
    total.nonfinite_columns.resize(columns);
    std::transform(found.begin(), found.end(), total.nonfinite_columns.begin(),
                   total.nonfinite_columns.begin(), std::bit_or<>());
  }

 private:
  RowSums sum_block(const T* data, std::uint64_t column, std::size_t count, Partial& lane) const {
    double* const values = lane.values.data();
    for (std::size_t i = 0; i < count; ++i) values[i] = to_double(data[i]);
    RowSums block;
    block.largest = largest_of(values, count);
    block.sums = sum_products(values, factors.data() + column, count);
    if (block.largest < limit && block.sums.magnitude < infinity) return block;  // nearly always

    // An element that is not finite makes the sum of magnitudes infinite or NaN for any factors.
    for (std::size_t i = 0; i < count; ++i) {
      if (std::abs(values[i]) < limit) continue;
      values[i] = 0;
      lane.nonfinite_columns.resize(columns);
      lane.nonfinite_columns[column + i] = 1;
      ++block.nonfinite;
      if (factors[column + i].magnitude != 0) ++block.nonfinite_used;
    }
    block.largest = largest_of(values, count);
    block.sums = sum_products(values, factors.data() + column, count);
    return block;
  }
};

std::vector<RowSums> join(std::span<const RowSums> pieces, std::uint64_t rows,
                          std::uint64_t columns) {
  std::vector<RowSums> sums(rows);
  if (columns == 0) return sums;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t first = row * columns;
    const std::uint64_t last = first + columns - 1;
    for (std::uint64_t tile = first / tile_elements; tile <= last / tile_elements; ++tile) {
      add(sums[row], pieces[row + tile]);
    }
  }
  return sums;
}

}  // namespace

RowPass sum_rows(Coordinator& coordinator, const Source& matrix, std::uint64_t rows,
                 std::uint64_t columns, std::span<const Factors> factors, double limit,
                 PassOptions wanted) {
  wanted.keep_partial = true;
  return visit(matrix.type()->element, [&]<class T>(std::type_identity<T>) -> RowPass {
    if constexpr (is_floating<T>) {
      std::vector<RowSums> pieces(pieces_of(rows, columns));
      const SumPieces<T> op{columns, factors, limit, pieces};
      auto [total, stats] = fold(coordinator, op, matrix, wanted);
      if (stats.outcome.partial) {
        throw Error(ErrorKind::interrupted, "the check of the product was stopped before its end");
      }
      return {join(pieces, rows, columns), std::move(total.nonfinite_columns)};
    } else {
      throw Error(
          ErrorKind::bad_input,
          "matrices of " + std::string(name_of(element_type_of<T>())) + " cannot be checked",
          {.hint = "f2, bf16, f4 and f8 can"});
    }
  });
}

std::uint64_t pass_bytes(std::uint64_t rows, std::uint64_t columns) {
  return (pieces_of(rows, columns) + rows) * sizeof(RowSums);
}

double roundings(std::uint64_t columns) {
  // The number of roundings in the multiplication, in the sums within a block, in the sum of its
  // partial sums, and in the sums of the blocks of a piece (the first and last of which may be cut)
  // and of the pieces. There are fewer if a row has fewer terms.
  const std::uint64_t pieces = columns / tile_elements + 2;
  const std::uint64_t blocks = std::min<std::uint64_t>(columns, tile_elements) / block_columns + 2;
  const std::uint64_t most = 1 + block_columns / ways + ways + blocks + pieces;
  return static_cast<double>(std::min(columns + 1, most));
}

}  // namespace ooc::detail::freivalds
