#include "reduce/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>

#include "support/special_values.hpp"

namespace ooc::detail::reduction {
namespace {

using test::largest;
using test::smallest;

ExactSum sum_of(std::initializer_list<double> values) {
  ExactSum sum;
  for (const double value : values) {
    int exponent = 0;
    std::frexp(value, &exponent);
    const int lowest = std::max(exponent - 53, -1074);
    const double magnitude = std::ldexp(std::abs(value), -lowest);
    sum.add(static_cast<std::uint64_t>(magnitude), ExactSum::position_of(lowest),
            std::signbit(value));
  }
  return sum;
}

/// Checks the sum of the values, and that the sum of their opposites is its opposite.
void expect_sum(std::initializer_list<double> values, double expected) {
  EXPECT_EQ(sum_of(values).rounded(), expected);
  ExactSum opposite;
  for (const double value : values) opposite.merge(sum_of({-value}));
  EXPECT_EQ(opposite.rounded(), -expected);
}

TEST(ExactSum, NothingIsZero) {
  EXPECT_EQ(ExactSum{}.rounded(), 0);
  EXPECT_FALSE(std::signbit(ExactSum{}.rounded()));
  EXPECT_FALSE(std::signbit(sum_of({-0.0, -0.0}).rounded()));
  EXPECT_FALSE(std::signbit(sum_of({-largest, largest}).rounded()));
}

TEST(ExactSum, OneValueComesBack) {
  for (int exponent = -1074; exponent < 1024; ++exponent)
    expect_sum({std::ldexp(1, exponent)}, std::ldexp(1, exponent));
  for (const double value :
       {1.0 / 3, smallest, 3 * smallest, 0x1p-1022, std::nextafter(0x1p-1022, 0), largest}) {
    expect_sum({value}, value);
  }
}

TEST(ExactSum, NothingIsLostToCancellation) {
  expect_sum({1e308, 1, -1e308}, 1);
  expect_sum({largest, smallest, -largest}, smallest);
  expect_sum({0x1p1023, -smallest, -0x1p1023}, -smallest);
  expect_sum({largest, largest, -largest}, largest);
  expect_sum({1e16, 1e-16, -1e16, -1e-16, 0.1}, 0.1);
}

TEST(ExactSum, TheMiddleGoesToTheEvenOne) {
  expect_sum({0x1p53, 1}, 0x1p53);
  expect_sum({0x1p53, 3}, 0x1p53 + 4);
  expect_sum({0x1p53, 1, smallest}, 0x1p53 + 2);
  expect_sum({0x1p53, 1, -smallest}, 0x1p53);
  expect_sum({0x1p53, 3, -smallest}, 0x1p53 + 2);
  expect_sum({1, 0x1p-53}, 1);
  expect_sum({1, 0x1p-53, 0x1p-300}, 1 + 0x1p-52);
  expect_sum({1, -0x1p-54}, 1);
  expect_sum({1, -0x1p-54, -0x1p-900}, 1 - 0x1p-53);
  expect_sum({2, -0x1p-53}, 2);  // a significand of 53 ones and a half rounds to a power of two
}

TEST(ExactSum, InfiniteBeyondTheLargestOnly) {
  expect_sum({largest, largest}, test::infinity);
  expect_sum({largest, 0x1p970}, test::infinity);
  expect_sum({largest, 0x1p970, -smallest}, largest);
  expect_sum({largest, 0x1p969}, largest);
}

TEST(ExactSum, CarriesRunThroughAllLimbs) {
  ExactSum sum = sum_of({0x1p1023});
  sum.merge(sum_of({-smallest}));  // all bits between are ones
  EXPECT_EQ(sum.rounded(), 0x1p1023);
  sum.merge(sum_of({smallest}));
  EXPECT_EQ(sum.limbs, sum_of({0x1p1023}).limbs);
  sum.merge(sum_of({-0x1p1023, -smallest}));
  EXPECT_EQ(sum.rounded(), -smallest);
  EXPECT_EQ(sum.limbs.back(), -1);
  sum.merge(sum_of({smallest}));
  EXPECT_EQ(sum.limbs, ExactSum{}.limbs);
}

TEST(ExactSum, HasRoomForAllAdditionsThatItPromises) {
  constexpr std::uint64_t digit = 0xffffffff;
  for (const bool negative : {false, true}) {
    // The state after 2^30 additions of the largest digit to each limb, on top of what a carry
    // leaves.
    ExactSum full, expected;
    for (std::size_t i = 0; i + 2 < ExactSum::limb_count; ++i) {
      const auto piled = static_cast<std::int64_t>(digit << 30);
      full.limbs[i] = negative ? -piled : piled;
      expected.add(digit << 30, static_cast<unsigned>(i) * ExactSum::limb_bits, negative);
    }
    expected.carry();
    full.carry();
    EXPECT_EQ(full.limbs, expected.limbs);
    for (std::size_t i = 0; i + 1 < ExactSum::limb_count; ++i) {
      EXPECT_GE(full.limbs[i], 0);
      EXPECT_LE(full.limbs[i], std::int64_t{digit});
    }
  }
  for (const double value : {largest, -largest, smallest}) {
    ExactSum sum = sum_of({value});
    for (int doubled = 0; doubled < 63; ++doubled) sum.merge(ExactSum{sum});
    EXPECT_EQ(sum.rounded(std::uint64_t{1} << 63), value);
  }
}

TEST(ExactSum, IntegersRoundAsTheCompilerRoundsThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto high = static_cast<std::int64_t>(random()) >> random() % 64;
    const std::uint64_t low = random() & ~std::uint64_t{0} << random() % 64;  // often a tie
    const int128 integer = int128{high} * (int128{1} << 64) + low;
    ExactSum sum;
    sum.add(integer);
    ASSERT_EQ(sum.rounded(), static_cast<double>(integer)) << to_string(integer);
  }
}

TEST(ExactSum, QuotientsAreRoundedOnce) {
  EXPECT_EQ(sum_of({1}).rounded(3), 1.0 / 3);
  EXPECT_EQ(sum_of({-10}).rounded(7), -10.0 / 7);
  EXPECT_EQ(sum_of({largest, largest}).rounded(2), largest);
  EXPECT_EQ(sum_of({0x1p54, 2}).rounded(2), 0x1p53);
  EXPECT_EQ(sum_of({3 * 0x1p53, 3, 1}).rounded(3), 0x1p53 + 2);  // the remainder decides
  EXPECT_EQ(sum_of({3 * 0x1p53, 3, -1}).rounded(3), 0x1p53);
  EXPECT_EQ(sum_of({smallest}).rounded(2), 0);
  EXPECT_EQ(sum_of({3 * smallest}).rounded(2), 2 * smallest);
  EXPECT_EQ(sum_of({3 * smallest}).rounded(4), smallest);
  EXPECT_EQ(sum_of({0x1p30 * smallest, smallest}).rounded((1u << 31) + 1), smallest);
  EXPECT_EQ(sum_of({smallest}).rounded(std::numeric_limits<std::uint64_t>::max()), 0);
  EXPECT_EQ(sum_of({largest}).rounded(std::numeric_limits<std::uint64_t>::max()),
            largest * 0x1p-64);
}

}  // namespace
}  // namespace ooc::detail::reduction
