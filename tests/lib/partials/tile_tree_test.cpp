#include <ooc/detail/partials/tile_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace ooc::detail {
namespace {

/// A node that records how it was merged, for example "((0 1) 2)".
struct Node {
  std::string text;
  void merge_right(const Node& right) { text = "(" + text + " " + right.text + ")"; }
};

/// Returns the text of the tree by its definition: split at the largest power of two below the
/// count.
std::string expected(std::uint64_t begin, std::uint64_t end) {
  if (end - begin == 1) return std::to_string(begin);
  const std::uint64_t left = std::bit_floor(end - begin - 1);
  return "(" + expected(begin, begin + left) + " " + expected(begin + left, end) + ")";
}

TEST(TileTree, HasNoRootWithoutTiles) {
  TileTree<Node> tree;
  EXPECT_TRUE(tree.empty());
  EXPECT_FALSE(tree.take_root());
}

TEST(TileTree, MergesByPlaceInAnyOrder) {
  std::mt19937 random(1);
  for (std::uint64_t tiles = 1; tiles <= 70; ++tiles) {
    std::vector<std::uint64_t> order(tiles);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    TileTree<Node> tree;
    for (const std::uint64_t tile : order) tree.add(tile, {std::to_string(tile)});
    EXPECT_EQ(tree.take_root()->text, expected(0, tiles));
  }
}

TEST(TileTree, MergesThroughSeveralTrees) {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t tiles = 1 + random() % 200;
    const std::uint64_t per_chunk = 1 + random() % 9;
    std::array<TileTree<Node>, 3> lanes;
    TileTree<Node> total;
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
      const std::size_t lane = (tile / per_chunk) % lanes.size();
      lanes[lane].add(tile, {std::to_string(tile)});
      if (random() % 4 == 0) total.absorb(lanes[random() % lanes.size()]);
    }
    for (auto& lane : lanes) total.absorb(lane);
    EXPECT_TRUE(lanes[0].empty());
    EXPECT_EQ(total.take_root()->text, expected(0, tiles));
  }
}

}  // namespace
}  // namespace ooc::detail
