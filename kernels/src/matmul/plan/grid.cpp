#include "matmul/plan/grid.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ooc::detail::product {

namespace {

/// Returns the `parts` + 1 borders of the parts. All but the last are multiples of `unit`.
std::vector<std::uint64_t> borders(std::uint64_t total, std::uint64_t unit, std::uint64_t parts) {
  const std::uint64_t units = divide_up(total, unit);
  const std::uint64_t each = units / parts, more = units % parts;
  std::vector<std::uint64_t> borders;
  for (std::uint64_t part = 0; part < parts; ++part) {
    borders.push_back((part * each + std::min(part, more)) * unit);
  }
  borders.push_back(total);
  return borders;
}

/// Returns the largest number of parts: all but the last are multiples of `unit`.
std::uint64_t most_parts(std::uint64_t total, std::uint64_t unit) {
  return std::max<std::uint64_t>(divide_up(total, unit), 1);
}

}  // namespace

Region Grid::block(std::size_t index) const {
  const std::size_t row = index / column_blocks(), column = index % column_blocks();
  return {.row = rows[row],
          .column = columns[column],
          .rows = rows[row + 1] - rows[row],
          .columns = columns[column + 1] - columns[column]};
}

Grid cut_into_blocks(std::uint64_t rows, std::uint64_t columns, std::size_t element_bytes,
                     std::size_t devices) {
  // The data in a file begins at a page boundary.
  const std::uint64_t row_bytes = columns * element_bytes;
  const std::uint64_t row_unit = page_bytes / std::gcd<std::uint64_t>(page_bytes, row_bytes);
  const std::uint64_t column_unit = page_bytes / element_bytes;
  const std::uint64_t most_rows = most_parts(rows, row_unit);
  // If rows end within a page, borders between columns would be within pages in most rows.
  const std::uint64_t most_columns =
      row_bytes % page_bytes == 0 ? most_parts(columns, column_unit) : 1;
  std::uint64_t down = 1, across = 1;
  for (std::uint64_t count = devices; count > 1 && down * across == 1; --count) {
    double least = std::numeric_limits<double>::infinity();
    // Among grids with equal reads, prefer more rows of blocks: they read longer rows.
    for (std::uint64_t of_rows = std::min(count, most_rows); of_rows != 0; --of_rows) {
      const std::uint64_t of_columns = count / of_rows;
      if (of_rows * of_columns != count || of_columns > most_columns) continue;
      // A is read once for each column of blocks, B once for each row.
      const double reads = static_cast<double>(of_columns) * static_cast<double>(rows) +
                           static_cast<double>(of_rows) * static_cast<double>(columns);
      if (reads >= least) continue;
      least = reads;
      down = of_rows;
      across = of_columns;
    }
  }
  return {borders(rows, row_unit, down), borders(columns, across == 1 ? 1 : column_unit, across)};
}

}  // namespace ooc::detail::product
