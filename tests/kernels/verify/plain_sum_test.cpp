#include "verify/plain_sum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "reduce/exact_sum.hpp"
#include "support/special_values.hpp"

namespace ooc::detail::plain {
namespace {

using test::largest;
using test::smallest;

PlainSum sum_of(const std::vector<double>& terms) {
  PlainSum sum;
  for (const double term : terms) sum.add(term);
  return sum;
}

TEST(PlainSum, OfNothingIsZero) {
  EXPECT_EQ(PlainSum{}.rounded(), 0);
  EXPECT_FALSE(std::signbit(PlainSum{}.rounded(3)));
  EXPECT_EQ(sum_of({1e300, -1e300}).value(), 0);
}

TEST(PlainSum, LosesNothing) {
  EXPECT_EQ(sum_of({1e300, 1, smallest, -1e300, -1}).rounded(), smallest);
  EXPECT_EQ(sum_of({1e-30, 1, -1}).rounded(), 1e-30);
  EXPECT_EQ(sum_of({largest, largest, -largest}).rounded(), largest);
}

TEST(PlainSum, RoundsToEvenFromTheMiddle) {
  EXPECT_EQ(sum_of({0x1p53, 1}).rounded(), 0x1p53);
  EXPECT_EQ(sum_of({0x1p53, 3}).rounded(), 0x1p53 + 4);
  EXPECT_EQ(sum_of({0x1p53, 1, smallest}).rounded(), 0x1p53 + 2);
  EXPECT_EQ(sum_of({-0x1p53, -1, -smallest}).rounded(), -0x1p53 - 2);
  EXPECT_EQ(sum_of({smallest}).rounded(2), 0);
  EXPECT_EQ(sum_of({3 * smallest}).rounded(2), 2 * smallest);
}

// The quotient is halfway between two doubles, but the sum has more bits than a long double. An
// approximation of the quotient may be rounded to the wrong side.
TEST(PlainSum, RoundsQuotientsToEvenFromTheMiddle) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t divisor = random() | 1;
    PlainSum even_above, even_below;  // large fractions, most of which a long double loses
    even_above.add_integer(((int128{1} << 54) - 1) * divisor);
    EXPECT_EQ(even_above.rounded(divisor), 0x1p54) << divisor;
    even_below.add_integer(((int128{1} << 54) - 3) * divisor);
    EXPECT_EQ(even_below.rounded(divisor), 0x1p54 - 4) << divisor;
  }
}

TEST(PlainSum, IsInfiniteBeyondTheLargestDouble) {
  const double half_a_step = std::ldexp(1.0, 970);
  EXPECT_EQ(sum_of({largest, half_a_step, -smallest}).rounded(), largest);
  EXPECT_EQ(sum_of({largest, half_a_step}).rounded(), test::infinity);
  EXPECT_EQ(sum_of({-largest, -largest}).rounded(), -test::infinity);
  EXPECT_EQ(sum_of({largest, largest, largest}).rounded(3), largest);
}

TEST(PlainSum, OfIntegers) {
  PlainSum sum;
  sum.add_integer(-(int128{1} << 100));
  sum.add_integer((int128{1} << 100) - 7);
  EXPECT_EQ(sum.rounded(), -7);
  EXPECT_EQ(sum.rounded(std::numeric_limits<std::uint64_t>::max()), -7 / 0x1p64);
}

/// ExactSum computes the sum by another method.
TEST(PlainSum, AgreesWithTheExactSum) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    PlainSum parts[2];
    reduction::ExactSum exact;
    const auto spread = static_cast<int>(random() % 2000) + 1;
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t fraction = random() >> 11;
      const int exponent = static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2;
      const bool negative = random() % 2 != 0;
      exact.add(fraction, reduction::ExactSum::position_of(exponent - 52), negative);
      const double size = std::ldexp(static_cast<double>(fraction), exponent - 52);
      parts[i % 2].add(negative ? -size : size);
    }
    parts[0].merge(parts[1]);
    for (const std::uint64_t divisor : {std::uint64_t{1}, random() % 1000 + 1, random()}) {
      EXPECT_EQ(parts[0].rounded(divisor), exact.rounded(divisor)) << round << ", " << divisor;
    }
  }
}

}  // namespace
}  // namespace ooc::detail::plain
