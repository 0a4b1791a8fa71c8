#include "matmul/plan/grid.hpp"

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ooc::detail::product {
namespace {

using Counts = std::pair<std::size_t, std::size_t>;

Counts cut(std::uint64_t rows, std::uint64_t columns, std::size_t devices) {
  const Grid grid = cut_into_blocks(rows, columns, sizeof(float), devices);
  return {grid.row_blocks(), grid.column_blocks()};
}

TEST(MatmulGrid, ReadsLeast) {
  EXPECT_EQ(cut(8192, 8192, 1), Counts(1, 1));
  EXPECT_EQ(cut(8192, 8192, 4), Counts(2, 2));
  EXPECT_EQ(cut(16384, 16384, 16), Counts(4, 4));
  EXPECT_EQ(cut(65536, 8192, 2), Counts(2, 1));
  EXPECT_EQ(cut(8192, 65536, 2), Counts(1, 2));
  EXPECT_EQ(cut(65536, 8192, 8), Counts(8, 1));
  EXPECT_EQ(cut(8192, 65536, 8), Counts(1, 8));
  EXPECT_EQ(cut(32768, 8192, 4), Counts(4, 1));
  EXPECT_EQ(cut(16384, 16384, 7), Counts(7, 1));
  EXPECT_EQ(cut(16384, 16384, 2), Counts(2, 1));
}

TEST(MatmulGrid, HasRowsOnlyWhereARowEndsWithinAPage) {
  EXPECT_EQ(cut(8192, 8193, 4), Counts(4, 1));
  EXPECT_EQ(cut(8192, 1000, 4), Counts(4, 1));
}

TEST(MatmulGrid, HasFewerBlocksThanDevicesIfCIsSmall) {
  EXPECT_EQ(cut(0, 0, 4), Counts(1, 1));
  EXPECT_EQ(cut(0, 8192, 4), Counts(1, 4));
  EXPECT_EQ(cut(8192, 0, 4), Counts(4, 1));  // of nothing
  EXPECT_EQ(cut(1, 1, 4), Counts(1, 1));
  EXPECT_EQ(cut(1, 4096, 8), Counts(1, 4));
  EXPECT_EQ(cut(3, 1024, 8), Counts(3, 1));
  // A page has rows of an odd length only after so many of them.
  EXPECT_EQ(cut(2048, 1001, 4), Counts(2, 1));
  EXPECT_EQ(cut(2049, 1001, 4), Counts(3, 1));
  EXPECT_EQ(cut(1024, 1001, 4), Counts(1, 1));
}

// Also with other sizes of elements.
TEST(MatmulGrid, CoversCAndGivesEachPageToOneBlock) {
  for (const std::size_t element : {4u, 8u}) {
    for (const std::uint64_t rows : {1u, 5u, 1000u, 1024u, 4099u}) {
      for (const std::uint64_t columns : {1u, 7u, 512u, 1024u, 1536u, 3000u, 4096u}) {
        for (std::size_t devices = 1; devices <= 9; ++devices) {
          const Grid grid = cut_into_blocks(rows, columns, element, devices);
          ASSERT_LE(grid.size(), devices);
          std::vector<std::size_t> owner((rows * columns * element - 1) / page_bytes + 1, devices);
          std::uint64_t covered = 0;
          for (std::size_t i = 0; i < grid.size(); ++i) {
            const Region block = grid.block(i);
            ASSERT_NE(block.rows * block.columns, 0u);
            covered += block.rows * block.columns;
            for (std::uint64_t row = block.row; row < block.row + block.rows; ++row) {
              const std::uint64_t first = (row * columns + block.column) * element;
              const std::uint64_t last = first + block.columns * element - 1;
              for (std::uint64_t page = first / page_bytes; page <= last / page_bytes; ++page) {
                ASSERT_TRUE(owner[page] == devices || owner[page] == i);
                owner[page] = i;
              }
            }
          }
          EXPECT_EQ(covered, rows * columns);
        }
      }
    }
  }
}

TEST(MatmulGrid, HasBlocksOfNearlyOneSize) {
  const Grid grid = cut_into_blocks(10000, 1024, sizeof(float), 3);
  ASSERT_EQ(grid.size(), 3u);
  EXPECT_EQ(grid.rows, (std::vector<std::uint64_t>{0, 3334, 6667, 10000}));
}

}  // namespace
}  // namespace ooc::detail::product
