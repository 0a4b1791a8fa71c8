#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <variant>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

TEST(Scalar, PrintsAllDigits) {
  constexpr int128 highest = ~(int128{1} << 127);
  EXPECT_EQ(to_string(0), "0");
  EXPECT_EQ(to_string(-1), "-1");
  EXPECT_EQ(to_string(1000), "1000");
  EXPECT_EQ(to_string(int128{1} << 64), "18446744073709551616");
  EXPECT_EQ(to_string(highest), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(-highest - 1), "-170141183460469231731687303715884105728");
}

TEST(Scalar, IsAnIntegerADoubleOrNothing) {
  const Scalar integer = int128{1} << 100;
  EXPECT_TRUE(integer.has_value());
  EXPECT_TRUE(integer.is_integer());
  EXPECT_EQ(integer.value(), 0x1p100);
  EXPECT_TRUE(std::get<int128>(integer) == int128{1} << 100);
  EXPECT_EQ(to_string(integer), "1267650600228229401496703205376");

  const Scalar real = 0.1;
  EXPECT_TRUE(real.has_value());
  EXPECT_FALSE(real.is_integer());
  EXPECT_EQ(real.value(), 0.1);
  EXPECT_EQ(to_string(real), "0.1");
  EXPECT_EQ(to_string(Scalar{-std::numeric_limits<double>::quiet_NaN()}), "NaN");

  const Scalar nothing;
  EXPECT_FALSE(nothing.has_value());
  EXPECT_FALSE(nothing.is_integer());
  EXPECT_EQ(to_string(nothing), "nothing");
  test::expect_error(ErrorKind::usage, "there is no such value", [&] { nothing.value(); });
}

}  // namespace
}  // namespace ooc::detail
