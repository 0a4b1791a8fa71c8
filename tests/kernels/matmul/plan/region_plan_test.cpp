#include "matmul/plan/region_plan.hpp"

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

namespace ooc::detail::product {
namespace {

struct Case {
  std::uint64_t rows, columns;  // of the matrix
  Region region;
  std::size_t element_bytes;
  std::size_t slot_bytes;
};

// Returns the size of the extents in a slot, where the blocks of direct reads need whole pages.
std::size_t bytes_in_slot(std::span<const Extent> extents) {
  return std::accumulate(
      extents.begin(), extents.end(), std::size_t{0}, [](std::size_t sum, const Extent& extent) {
        const std::uint64_t begin = round_down(extent.offset, page_bytes);
        const std::uint64_t end = round_up(extent.offset + extent.bytes, page_bytes);
        return sum + (end - begin);
      });
}

TEST(RegionPlan, HasEachElementOnceInPiecesThatFit) {
  const std::vector<Case> cases{
      {10, 10, {0, 0, 10, 10}, 4, 3 * page_bytes},      // all of it
      {1000, 3000, {0, 0, 1000, 3000}, 4, 64 * KiB},    // whole rows
      {1000, 3000, {17, 0, 501, 3000}, 8, 64 * KiB},    // some of them
      {1000, 3000, {3, 5, 700, 1234}, 2, 64 * KiB},     // a rectangle
      {50, 100'000, {7, 11, 30, 99'000}, 4, 64 * KiB},  // rows longer than a slot
      {50, 100'000, {0, 0, 50, 100'000}, 4, 64 * KiB},  // whole rows, longer than a slot
      {100'000, 1, {1, 0, 99'998, 1}, 8, 64 * KiB},     // one column, which is contiguous
      {5000, 7, {0, 3, 5000, 1}, 4, 3 * page_bytes},    // one column, which is not
  };
  for (const Case& c : cases) {
    const StoredMatrix matrix{2, 128, c.columns, c.element_bytes};
    const RegionPlan plan({{matrix, c.region}, {matrix, c.region}}, c.slot_bytes);
    ASSERT_EQ(plan.size() % 2, 0u);
    ASSERT_EQ(plan.first_chunk(1), plan.size() / 2);
    std::map<std::uint64_t, int> seen;
    std::vector<Extent> storage(plan.max_extents());
    for (std::size_t k = 0; k < plan.size(); ++k) {
      const auto extents = plan.extents(k, storage);
      const Region piece = plan.region(k);
      ASSERT_LE(bytes_in_slot(extents), c.slot_bytes);
      // The elements are adjacent in a panel that has only the columns of the region.
      ASSERT_TRUE(piece.columns == c.region.columns || piece.rows == 1);
      std::uint64_t bytes = 0;
      for (const Extent& extent : extents) {
        EXPECT_EQ(extent.file, 2u);
        bytes += extent.bytes;
        for (std::uint64_t at = extent.offset; at < extent.offset + extent.bytes;
             at += c.element_bytes) {
          ++seen[(at - matrix.offset) / c.element_bytes];
        }
      }
      ASSERT_EQ(bytes, piece.rows * piece.columns * c.element_bytes);
    }
    ASSERT_EQ(seen.size(), c.region.rows * c.region.columns);
    for (const auto& [element, times] : seen) {
      ASSERT_EQ(times, 2);
      ASSERT_GE(element / c.columns, c.region.row);
      ASSERT_LT(element / c.columns, c.region.row + c.region.rows);
      ASSERT_GE(element % c.columns, c.region.column);
      ASSERT_LT(element % c.columns, c.region.column + c.region.columns);
    }
  }
}

TEST(RegionPlan, ReadsWholeRowsInOneExtent) {
  const StoredMatrix matrix{0, 4096, 1000, 4};
  const RegionPlan plan({{matrix, {0, 0, 500, 1000}}}, 256 * KiB);
  EXPECT_EQ(plan.max_extents(), 1u);
  EXPECT_EQ(plan.size(), 8u);  // of 63 rows each, which are 252 kB
}

TEST(RegionPlan, OfNothingHasNoChunks) {
  EXPECT_EQ(RegionPlan({}, 64 * KiB).size(), 0u);
}

}  // namespace
}  // namespace ooc::detail::product
