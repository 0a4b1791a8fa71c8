#pragma once

#include "lines/lines.hpp"

#include <ooc/device.hpp>
#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

// The results of rows, which both backends write.

namespace ooc::detail::by_row {

/// The result that is asked for.
struct Question {
  ElementType type;
  std::size_t columns;  // elements of a row
  ReduceRowsOptions options;
};

/// Rows in memory, and room for a result for each.
struct Rows {
  const std::byte* data;
  std::size_t count;
  std::byte* out;
};

/// Returns the rows as lines of one tile, or of tiles of reduce().
inline lines::Lines lines_of(const Question& asked, const std::byte* data, std::size_t rows) {
  return {.data = data,
          .count = rows,
          .length = asked.columns,
          .stride = asked.columns,
          .step = 1,
          .tile = tile_elements,
          .phases = std::min(std::bit_ceil(asked.columns), lines::most_phases),
          .squares =
              asked.options.value == RowValue::variance || asked.options.value == RowValue::stddev};
}

/// Writes the result of each row. The elements of a row begin where `data` says.
void reduce_rows_cpu(const Question& asked, const Rows& rows);

/// Does the same in device memory; enqueues its work.
void reduce_rows_cuda(Stream& stream, const Question& asked, const Rows& rows);

}  // namespace ooc::detail::by_row
