#include <ooc/detail/base/group_digits.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(GroupDigits, InsertsCommasBetweenGroupsOfThree) {
  EXPECT_EQ(group_digits("0"), "0");
  EXPECT_EQ(group_digits("999"), "999");
  EXPECT_EQ(group_digits("1000"), "1,000");
  EXPECT_EQ(group_digits("-123"), "-123");
  EXPECT_EQ(group_digits("-1234567"), "-1,234,567");
}

}  // namespace
}  // namespace ooc::detail
