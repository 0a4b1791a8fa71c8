#pragma once

#include "matmul/plan/region_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc::detail::product {

/// C, cut by rows and by columns into blocks, each of which is a product of its own: of rows of A
/// and columns of B.
struct Grid {
  std::vector<std::uint64_t> rows{};     // the first row of each row of blocks, then the end
  std::vector<std::uint64_t> columns{};  // the same of columns

  std::size_t row_blocks() const noexcept { return rows.size() - 1; }
  std::size_t column_blocks() const noexcept { return columns.size() - 1; }
  std::size_t size() const noexcept { return row_blocks() * column_blocks(); }

  /// Returns the region of C that a block covers. Blocks are counted row by row.
  Region block(std::size_t index) const;

  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Cuts C, of rows x columns elements in a file, into a block for each of `devices`: those that
/// together read least of A and B, which are nearly squares. No page of the file has two writers,
/// which may be on machines that do not know of each other. So C may be too small for all devices:
/// then it has fewer blocks.
Grid cut_into_blocks(std::uint64_t rows, std::uint64_t columns, std::size_t element_bytes,
                     std::size_t devices);

}  // namespace ooc::detail::product
