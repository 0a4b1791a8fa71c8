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

}  // namespace
}  // namespace ooc_run
