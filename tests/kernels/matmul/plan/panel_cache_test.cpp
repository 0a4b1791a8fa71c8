#include "matmul/plan/panel_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace ooc::detail::product {
namespace {

/// Returns loads of row panels of A, in this order.
std::vector<Load> loads_of(const std::vector<std::uint64_t>& rows) {
  std::vector<Load> loads;
  for (const std::uint64_t row : rows) loads.push_back({loads.size(), Operand::a, row, 0, 0});
  return loads;
}

Tiling tiling_of(std::uint64_t row_tiles) {
  Tiling tiling;
  tiling.row_tiles = row_tiles;
  tiling.column_tiles = tiling.inner_tiles = 1;
  return tiling;
}

std::size_t reads(const std::vector<Load>& loads) {
  return static_cast<std::size_t>(std::ranges::count(loads, none, &Load::from));
}

/// Returns the smallest number of reads over all choices of the panels to keep.
std::size_t fewest_reads(std::span<const std::uint64_t> rows, const std::set<std::uint64_t>& kept,
                         std::size_t entries) {
  if (rows.empty()) return 0;
  if (kept.contains(rows[0])) return fewest_reads(rows.subspan(1), kept, entries);
  std::size_t fewest = fewest_reads(rows.subspan(1), kept, entries);
  std::set<std::uint64_t> with = kept;
  with.insert(rows[0]);
  if (with.size() <= entries) {
    fewest = std::min(fewest, fewest_reads(rows.subspan(1), with, entries));
  } else {
    for (const std::uint64_t row : kept) {
      std::set<std::uint64_t> without = with;
      without.erase(row);
      fewest = std::min(fewest, fewest_reads(rows.subspan(1), without, entries));
    }
  }
  return fewest + 1;
}

TEST(PanelCache, NoOtherChoiceHitsMoreOften) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> rows(11);
    for (std::uint64_t& row : rows) row = random() % 6;
    for (const std::size_t entries : {1, 2, 3}) {
      std::vector<Load> loads = loads_of(rows);
      EXPECT_LE(plan_cache(tiling_of(6), entries, loads), entries);
      EXPECT_EQ(reads(loads), fewest_reads(rows, {}, entries));
    }
  }
}

TEST(PanelCache, HoldsNoMoreThanIsReadAgain) {
  std::vector<Load> loads = loads_of({0, 1, 2, 1, 3, 1, 4});
  EXPECT_EQ(plan_cache(tiling_of(5), 100, loads), 1u);
  EXPECT_EQ(loads[0].keep, none);
  EXPECT_EQ(loads[1].keep, 0);
  EXPECT_EQ(loads[3].from, 0);
  EXPECT_EQ(loads[5].from, 0);
  EXPECT_EQ(reads(loads), 5u);
}

TEST(PanelCache, NoMemoryNoCache) {
  std::vector<Load> loads = loads_of({0, 0, 0});
  EXPECT_EQ(plan_cache(tiling_of(1), 0, loads), 0u);
  EXPECT_EQ(reads(loads), 3u);
}

TEST(PanelBuffers, FillTheOneUsedLongestAgo) {
  PanelBuffers buffers(2);
  const std::uint64_t panels[] = {7, 8, 7, 9, 7, 8};
  const bool loads[] = {true, true, false, true, false, true};
  const std::uint32_t places[] = {0, 1, 0, 1, 0, 1};
  for (std::uint64_t step = 0; step < 6; ++step) {
    const PanelBuffers::Use use = buffers.use(panels[step], step);
    EXPECT_EQ(use.load, loads[step]) << step;
    EXPECT_EQ(use.buffer, places[step]) << step;
  }
}

}  // namespace
}  // namespace ooc::detail::product
