#include <ooc/detail/operators/is_close.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

namespace ooc::detail {
namespace {

TEST(IsClose, ComparesNumbersRangesAndTuples) {
  const IsClose same;
  EXPECT_TRUE(same(1.0, 1.0005));
  EXPECT_FALSE(same(1.0, 1.002));
  EXPECT_TRUE(same(std::vector{1e6, 1e-3}, std::vector{1e6, 2e-3}));
  EXPECT_FALSE(same(std::vector{1.0}, std::vector{1.0, 2.0}));
  EXPECT_FALSE(same(1000, 1001));
  EXPECT_TRUE(same(std::tuple(1, 2.0), std::tuple(1, 2.0001)));
  EXPECT_FALSE(same(std::tuple(1, 2.0), std::tuple(2, 2.0)));
  const double infinity = std::numeric_limits<double>::infinity();
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same(infinity, infinity) && same(none, none));
  EXPECT_FALSE(same(infinity, 1.0) || same(-infinity, infinity) || same(none, 1.0));
}

}  // namespace
}  // namespace ooc::detail
