#include <gtest/gtest.h>

#include <ooc/detail/observe/stall_timer.hpp>

namespace ooc::detail {
namespace {

TEST(StallTimer, BeginsAnewWithEveryByte) {
  StallTimer stall;
  EXPECT_EQ(stall.update(0, 3, 1), 1);  // no answer since 0 s
  EXPECT_EQ(stall.update(10, 3, 2), 0);
  EXPECT_EQ(stall.update(10, 3, 5), 3);
  EXPECT_EQ(stall.update(11, 3, 6), 0);
}

TEST(StallTimer, ADiskThatWasAskedNothingOwesNothing) {
  StallTimer stall;
  EXPECT_EQ(stall.update(10, 3, 1), 0);
  EXPECT_EQ(stall.update(10, 0, 9), 0);
  EXPECT_EQ(stall.update(10, 3, 11), 2);
}

}  // namespace
}  // namespace ooc::detail
