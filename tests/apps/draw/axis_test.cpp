#include "draw/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ooc_run {
namespace {

std::string labels_of(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

TEST(Axis, StepsAreRound) {
  for (const auto& [least, step] : {std::pair{1.0, 1.0},
                                    {1.01, 2.0},
                                    {2.1, 2.5},
                                    {2.6, 5.0},
                                    {5.1, 10.0},
                                    {0.03, 0.05},
                                    {6e11, 1e12}}) {
    EXPECT_DOUBLE_EQ(round_step(least), step);
  }
}

TEST(Axis, TicksLieAtRoundPlaces) {
  EXPECT_EQ(labels_of(round_ticks(0, 1, 5)), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(labels_of(round_ticks(0, 1, 4)), "0.00 0.25 0.50 0.75 1.00");
  EXPECT_EQ(labels_of(round_ticks(-5.36, 5.04, 6)), "-4 -2 0 2 4");
  EXPECT_EQ(labels_of(round_ticks(3, 4, 2)), "3.0 3.5 4.0");
  EXPECT_EQ(labels_of(round_ticks(1e9, 3e9, 2)), "1e9 2e9 3e9");
  EXPECT_EQ(labels_of(round_ticks(1e-7, 3e-7, 2)), "1e-7 2e-7 3e-7");
}

TEST(Axis, TicksOfAnyAxisLieOnItAndRise) {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  const std::pair<double, double> axes[] = {{-most, most},  {0, tiny},       {1e15, 1e15 + 8},
                                            {1, 1 + 1e-15}, {-1e300, 1e300}, {0, most},
                                            {7, 7.5},       {-tiny, tiny},   {-3, -1e-200}};
  for (const auto& [lower, upper] : axes) {
    for (int intervals = 2; intervals <= 12; ++intervals) {
      const std::vector<Tick> ticks = round_ticks(lower, upper, intervals);
      ASSERT_GE(ticks.size(), 2u) << lower << " " << upper;
      ASSERT_LE(ticks.size(), static_cast<std::size_t>(intervals) + 1);
      EXPECT_GE(ticks.front().value, lower);
      EXPECT_LE(ticks.back().value, upper);
      for (std::size_t i = 1; i < ticks.size(); ++i) {
        EXPECT_LT(ticks[i - 1].value, ticks[i].value);
      }
    }
  }
}

TEST(Axis, AnAxisOfNoLengthHasItsEnds) {
  EXPECT_EQ(round_ticks(2, 2, 5).size(), 2u);
  EXPECT_EQ(ValueAxis(2, 2, false).position(2), 0.5);
}

TEST(Axis, Values) {
  const ValueAxis linear(-1, 3, false);
  EXPECT_EQ(linear.position(-1), 0);
  EXPECT_EQ(linear.position(0), 0.25);
  EXPECT_EQ(linear.position(3), 1);
  constexpr double most = std::numeric_limits<double>::max();
  EXPECT_DOUBLE_EQ(ValueAxis(-most, most, false).position(0), 0.5);
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(ValueAxis(0, tiny, false).position(0), 0);
  EXPECT_EQ(ValueAxis(0, tiny, false).position(tiny), 1);
  EXPECT_EQ(labels_of(ValueAxis(-1e-300, 1e-300, false).ticks(2)), "-1e-300 0 1e-300");

  const ValueAxis logarithmic(1e-2, 1e4, true);
  EXPECT_DOUBLE_EQ(logarithmic.position(10), 0.5);
  EXPECT_EQ(labels_of(logarithmic.ticks(10)), "0.01 0.1 1 10 100 1000 10000");
  EXPECT_EQ(labels_of(logarithmic.ticks(3)), "0.01 1 100 10000");
  EXPECT_EQ(labels_of(ValueAxis(1e-300, 1e300, true).ticks(2)), "1e-300 1e0 1e300");
  EXPECT_EQ(labels_of(ValueAxis(1, 1e8, true).ticks(4)), "1e0 1e2 1e4 1e6 1e8");
  EXPECT_EQ(labels_of(ValueAxis(2, 6, true).ticks(4)), "2 3 4 5 6");  // within a decade
}

TEST(Axis, Counts) {
  EXPECT_EQ(labels_of(CountAxis(1000, false).ticks(5)), "0 200 400 600 800 1,000");
  EXPECT_EQ(labels_of(CountAxis(3, false).ticks(5)), "0 1 2 3");
  EXPECT_EQ(labels_of(CountAxis(10, false).ticks(4)), "0 5 10");  // not 2.5
  EXPECT_EQ(labels_of(CountAxis(9e6, false).ticks(4)), "0 2,500,000 5,000,000 7,500,000");
  EXPECT_EQ(labels_of(CountAxis(4, true).ticks(6)), "1 2 3 4");  // it has no 0
  EXPECT_EQ(labels_of(CountAxis(0, true).ticks(6)), "0");
}

TEST(Axis, CountsHaveOneNotation) {
  EXPECT_EQ(labels_of(CountAxis(1.3e7, false).ticks(6)), "0 2.5 M 5 M 7.5 M 10 M 12.5 M");
  EXPECT_EQ(labels_of(CountAxis(1.2e9, false).ticks(3)), "0 0.5 G 1 G");
  EXPECT_EQ(labels_of(CountAxis(2.4e9, false).ticks(3)), "0 1 G 2 G");
  EXPECT_EQ(labels_of(CountAxis(1.5e18, false).ticks(3)), "0 0.5 E 1 E 1.5 E");
  EXPECT_EQ(labels_of(CountAxis(1e8, true).ticks(8)), "1 10 100 1 K 10 K 100 K 1 M 10 M 100 M");
}

TEST(Axis, DecadesOfCountsBeginAtOne) {
  EXPECT_EQ(labels_of(CountAxis(9999, true).ticks(8)), "1 10 100 1,000");
  EXPECT_EQ(labels_of(CountAxis(123456, true).ticks(3)), "1 100 10,000");
  EXPECT_EQ(labels_of(CountAxis(1e12, true).ticks(4)), "1 1 K 1 M 1 G 1 T");
}

TEST(Axis, AnAxisOfCountsEndsAtATickThatNoneExceeds) {
  for (const bool logarithmic : {false, true}) {
    for (const int intervals : {3, 6, 10}) {
      for (std::uint64_t most = 1; most < 10'000'000'000'000'000; most += 1 + most / 7) {
        const CountAxis axis = CountAxis::up_to(most, logarithmic, intervals);
        const std::vector<Tick> ticks = axis.ticks(intervals);
        ASSERT_GE(ticks.size(), logarithmic && most == 1 ? 1u : 2u) << most;
        EXPECT_EQ(axis.position(ticks.back().value), 1) << most;
        EXPECT_LE(axis.position(static_cast<double>(most)), 1) << most;
        if (ticks.size() < 2) continue;
        EXPECT_GT(axis.position(static_cast<double>(most)),
                  axis.position(ticks[ticks.size() - 2].value))
            << most;
      }
    }
  }
  EXPECT_EQ(labels_of(CountAxis::up_to(662'000, false, 4).ticks(4)),
            "0 200,000 400,000 600,000 800,000");
  EXPECT_EQ(labels_of(CountAxis::up_to(0, false, 6).ticks(6)), "0");
}

TEST(Axis, PlacesOfCountsGoFromZeroToOne) {
  for (const bool logarithmic : {false, true}) {
    const CountAxis axis(1e6, logarithmic);
    EXPECT_EQ(axis.position(0), 0);
    EXPECT_EQ(axis.position(1e6), 1);
    EXPECT_GT(axis.position(1), 0);
    EXPECT_EQ(CountAxis(0, logarithmic).position(0), 0);
  }
  // All decades have one length.
  const CountAxis axis(1e6, true);
  for (const double count : {1., 10., 1e4}) {
    EXPECT_NEAR(axis.position(10 * count) - axis.position(count),
                axis.position(1e6) - axis.position(1e5), 1e-12);
  }
}

}  // namespace
}  // namespace ooc_run
