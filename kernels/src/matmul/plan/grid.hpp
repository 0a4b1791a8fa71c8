#pragma once

#include "matmul/plan/region_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ooc::detail::product {

/// C, cut by rows and by columns into blocks. Each block is a product by itself: of some rows of A
/// and some columns of B.
struct Grid {
  std::vector<std::uint64_t> rows{};     // the first row of each row of blocks, then the end
  std::vector<std::uint64_t> columns{};  // the first column of each column of blocks, then the end

  std::size_t row_blocks() const noexcept { return rows.size() - 1; }
  std::size_t column_blocks() const noexcept { return columns.size() - 1; }
  std::size_t size() const noexcept { return row_blocks() * column_blocks(); }

  /// Returns the region of C that a block covers. Blocks are numbered row by row.
  Region block(std::size_t index) const;

  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Cuts C, of rows x columns elements in a file, into a block for each of `devices`, such that all
/// blocks together read as little of A and B as possible; they are nearly squares. No page of the
/// file is written by two blocks, whose writers may be on different machines. So a small C may have
/// fewer blocks than there are devices.
Grid cut_into_blocks(std::uint64_t rows, std::uint64_t columns, std::size_t element_bytes,
                     std::size_t devices);

}  // namespace ooc::detail::product
