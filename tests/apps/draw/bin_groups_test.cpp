#include "draw/bin_groups.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(BinGroups, AreAlikeWherePossible) {
  EXPECT_EQ(bins_per_group(0, 24), 1u);
  EXPECT_EQ(bins_per_group(24, 24), 1u);
  EXPECT_EQ(bins_per_group(25, 24), 2u);   // 5 would make too few groups
  EXPECT_EQ(bins_per_group(100, 24), 5u);  // all groups are equal
  EXPECT_EQ(bins_per_group(256, 24), 16u);
  EXPECT_EQ(bins_per_group(97, 24), 5u);
  EXPECT_EQ(bins_per_group(1 << 20, 800), 2048u);
}

TEST(BinGroups, HoldAllBins) {
  ooc::Histogram histogram;
  for (int i = 0; i < 7; ++i) histogram.counts.push_back(std::uint64_t{1} << i);
  for (int i = 0; i < 8; ++i) histogram.edges.push_back(i * i);
  const std::vector<BinGroup> groups = group_bins(histogram, 3);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].count, 7u);
  EXPECT_EQ(groups[1].count, 56u);
  EXPECT_EQ(groups[2].count, 64u);
  EXPECT_EQ(most_of(groups), 64u);
  EXPECT_EQ(groups[0].lower, 0);
  EXPECT_EQ(groups[0].upper, 9);
  EXPECT_EQ(groups[2].lower, 36);
  EXPECT_EQ(groups[2].upper, 49);
}

TEST(BinGroups, NothingHasNone) {
  EXPECT_TRUE(group_bins({}, 1).empty());
  EXPECT_EQ(most_of({}), 0u);
}

TEST(BinGroups, AreDescribed) {
  EXPECT_EQ(describe_groups(24, 1, "row"), "");
  EXPECT_EQ(describe_groups(256, 16, "row"), ", each row sums 16 bins");
  EXPECT_EQ(describe_groups(1 << 20, 2048, "bar"), ", each bar sums 2,048 bins");
  EXPECT_EQ(describe_groups(97, 5, "row"), ", each row sums 5 bins (2 in the last)");
}

TEST(BarHeights, OfUnequalBinsAreDensities) {
  const std::vector<BinGroup> groups{{0, 1, 10}, {1, 1.5, 8}, {1.5, 9.5, 8}, {9.5, 10, 0}};
  const BarHeights heights(groups, true);
  EXPECT_EQ(heights.highest(), 8u);  // of the densest bin
  EXPECT_EQ(heights.of(groups[0]), 5);
  EXPECT_EQ(heights.of(groups[1]), 8);
  EXPECT_EQ(heights.of(groups[2]), 0.5);
  EXPECT_EQ(heights.of(groups[3]), 0);
  EXPECT_EQ(heights.name(), "density");
  EXPECT_EQ(heights.remark(), ", bars are densities: counts per 0.5");
  const BarHeights counts(groups, false);
  EXPECT_EQ(counts.highest(), 10u);
  EXPECT_EQ(counts.of(groups[2]), 8);
  EXPECT_EQ(counts.name(), "count");
  EXPECT_EQ(counts.remark(), "");
}

TEST(BarHeights, OfEqualBinsAreCounts) {
  const std::vector<BinGroup> rounded{{0, 0.1, 3}, {0.1, 0.2, 4}, {0.2, 0.1 + 0.2, 5}};
  EXPECT_EQ(BarHeights(rounded, true).name(), "count");
  EXPECT_EQ(BarHeights({}, true).name(), "count");
  EXPECT_EQ(BarHeights({{0, 1, 0}, {1, 3, 0}}, true).highest(), 0u);
}

TEST(BarHeights, AreFinite) {
  const std::vector<BinGroup> point{{0, 1, 5}, {1, 1, 5}};  // the density of a point has no end
  EXPECT_EQ(BarHeights(point, true).name(), "count");
  const std::vector<BinGroup> far{{-1e308, 1e308, 7}, {1e308, 1.1e308, 0}, {1.1e308, 1.2e308, 3}};
  const BarHeights heights(far, true);
  EXPECT_EQ(heights.highest(), 3u);
  EXPECT_EQ(heights.of(far[0]), 0);
  const std::vector<BinGroup> near{{0, 5e-324, 7}, {5e-324, 1e308, 3}};
  EXPECT_EQ(BarHeights(near, true).highest(), 7u);
  EXPECT_EQ(BarHeights(near, true).of(near[1]), 0);
}

}  // namespace
}  // namespace ooc_run
