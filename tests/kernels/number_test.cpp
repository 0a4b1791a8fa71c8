#include <ooc/kernels/number.hpp>

#include <gtest/gtest.h>

namespace ooc {
namespace {

TEST(Number, PrintsAllDigits) {
  constexpr int128 highest = ~(int128{1} << 127);
  EXPECT_EQ(to_string(0), "0");
  EXPECT_EQ(to_string(-1), "-1");
  EXPECT_EQ(to_string(1000), "1000");
  EXPECT_EQ(to_string(int128{1} << 64), "18446744073709551616");
  EXPECT_EQ(to_string(highest), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(-highest - 1), "-170141183460469231731687303715884105728");
}

}  // namespace
}  // namespace ooc
