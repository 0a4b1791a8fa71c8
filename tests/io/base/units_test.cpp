#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>

#include <limits>

namespace ooc::detail {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Units, RoundToMultiples) {
  EXPECT_EQ(round_down(4097, 4096), 4096u);
  EXPECT_EQ(round_down(4095, 4096), 0u);
  EXPECT_EQ(round_up(4097, 4096), 8192u);
  EXPECT_EQ(round_up(4096, 4096), 4096u);
  EXPECT_EQ(round_up(0, 4096), 0u);
  EXPECT_EQ(round_up(10, 3), 12u);
}

TEST(Units, DivideWithoutOverflow) {
  EXPECT_EQ(divide_up(0, 7), 0u);
  EXPECT_EQ(divide_up(7, 7), 1u);
  EXPECT_EQ(divide_up(8, 7), 2u);
  EXPECT_EQ(divide_up(largest, 2), largest / 2 + 1);
}

}  // namespace
}  // namespace ooc::detail
