#include "timeline/recent_rate.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(RecentRate, IsTheAverageOfWhatIsSteady) {
  RecentRate rate(3);
  EXPECT_EQ(rate.per_second(), 0);
  for (int i = 0; i < 100; ++i) {
    rate.add(7, 0.1);
    EXPECT_NEAR(rate.per_second(), 70, 1e-9);
  }
}

TEST(RecentRate, FollowsAChangeWithoutAJump) {
  RecentRate rate(3);
  for (int i = 0; i < 100; ++i) rate.add(100, 0.1);
  rate.add(10, 0.1);  // from now on, a tenth of the rate
  EXPECT_NEAR(rate.per_second(), 970, 15);
  for (int i = 0; i < 29; ++i) rate.add(10, 0.1);
  EXPECT_NEAR(rate.per_second(), 100 + 900 / 2.718, 30);
  for (int i = 0; i < 170; ++i) rate.add(10, 0.1);
  EXPECT_NEAR(rate.per_second(), 100, 5);
}

TEST(RecentRate, NothingForALongTimeIsNothing) {
  RecentRate rate(1);
  rate.add(1e9, 1);
  rate.add(0, 100);
  EXPECT_LT(rate.per_second(), 1);
}

}  // namespace
}  // namespace ooc_run
