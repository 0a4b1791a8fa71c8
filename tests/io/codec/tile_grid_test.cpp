#include <ooc/detail/codec/tile_grid.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ooc::detail {
namespace {

using Side = TileGrid::Side;

struct Piece {
  std::uint64_t in_band, in_tile, bytes;
  friend bool operator==(const Piece&, const Piece&) = default;
};

std::vector<Piece> runs_of(const TileGrid& grid, std::uint64_t tile, std::uint64_t begin,
                           std::uint64_t end) {
  std::vector<Piece> runs;
  grid.visit_runs(tile, begin, end,
                  [&](std::uint64_t in_band, std::uint64_t in_tile, std::uint64_t bytes) {
                    runs.push_back({in_band, in_tile, bytes});
                  });
  return runs;
}

TEST(TileGrid, ABandThatIsNotDividedIsOneTile) {
  const TileGrid grid;
  EXPECT_EQ(grid.tiles(), 1u);
  EXPECT_EQ(runs_of(grid, 0, 3, 10), (std::vector<Piece>{{3, 3, 7}}));
  EXPECT_EQ(runs_of(grid, 0, 3, 3), std::vector<Piece>{});
}

TEST(TileGrid, TilesHavePartsOfRows) {
  const TileGrid grid(std::vector<Side>{{10, 4}});  // the last tile has 2 bytes of each row
  EXPECT_EQ(grid.tiles(), 3u);
  EXPECT_EQ(grid.row_bytes(), 10u);
  EXPECT_EQ(grid.tile_row_bytes(), 4u);
  EXPECT_EQ(runs_of(grid, 0, 0, 20), (std::vector<Piece>{{0, 0, 4}, {10, 4, 4}}));
  EXPECT_EQ(runs_of(grid, 2, 0, 20), (std::vector<Piece>{{8, 0, 2}, {18, 4, 2}}));
  EXPECT_EQ(runs_of(grid, 1, 5, 15), (std::vector<Piece>{{5, 1, 3}, {14, 4, 1}}));
  EXPECT_EQ(runs_of(grid, 2, 0, 8), std::vector<Piece>{});
  EXPECT_EQ(grid.bytes_in(1, 5, 15), 4u);
}

TEST(TileGrid, EveryByteIsInOneTile) {
  for (const std::vector<Side>& row : std::vector<std::vector<Side>>{
           {{5, 2}, {12, 8}}, {{3, 3}, {7, 9}}, {{2, 1}, {3, 2}, {4, 4}}, {{1, 1}}}) {
    const TileGrid grid(row);
    const std::uint64_t rows = 3, bytes = rows * grid.row_bytes();
    for (std::uint64_t begin = 0; begin < bytes; begin += 5) {
      for (std::uint64_t end = begin; end <= bytes; end += 7) {
        std::vector<int> seen(bytes);
        for (std::uint64_t tile = 0; tile < grid.tiles(); ++tile) {
          for (const auto& [in_band, in_tile, count] : runs_of(grid, tile, begin, end)) {
            EXPECT_LE(in_tile + count, rows * grid.tile_row_bytes());
            for (std::uint64_t i = 0; i < count; ++i) ++seen[in_band + i];
          }
        }
        for (std::uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(seen[i], i >= begin && i < end);
      }
    }
  }
}

}  // namespace
}  // namespace ooc::detail
