#include "histogram/bin_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ooc::detail::binning {
namespace {

constexpr BinRule all_rules[] = {BinRule::sqrt, BinRule::sturges, BinRule::scott};

/// The numbers are those of len(numpy.histogram_bin_edges(x, rule)) - 1, of NumPy 2.
TEST(BinRule, AsNumPy) {
  // x = numpy.arange(1001.)
  const Sample ramp{1001, 0, 1000, std::sqrt((1001.0 * 1001 - 1) / 12), false};
  EXPECT_EQ(bins_by(BinRule::sqrt, ramp), 32);
  EXPECT_EQ(bins_by(BinRule::sturges, ramp), 11);
  EXPECT_EQ(bins_by(BinRule::scott, ramp), 10);
  // x = numpy.repeat([-1., 1.], 512)
  const Sample ends{1024, -1, 1, 1, false};
  EXPECT_EQ(bins_by(BinRule::sqrt, ends), 32);
  EXPECT_EQ(bins_by(BinRule::sturges, ends), 11);
  EXPECT_EQ(bins_by(BinRule::scott, ends), 6);
}

/// Dividing the range by the rounded width may give one bin more than the exact number.
TEST(BinRule, IsRoundedAsNumPyDoes) {
  // x = numpy.linspace(0, 0.7, 49) and (0, 0.7, 121)
  EXPECT_EQ(bins_by(BinRule::sqrt, {49, 0, 0.7, 0, false}), std::ceil(0.7 / (0.7 / 7)));
  bool any_more = false;
  for (std::uint64_t root = 2; root < 1000; ++root) {
    const double bins = bins_by(BinRule::sqrt, {root * root, 0, 0.7, 0, false});
    const auto exact = static_cast<double>(root);
    EXPECT_EQ(bins, std::ceil(0.7 / (0.7 / exact)));
    any_more |= bins == exact + 1;
  }
  EXPECT_TRUE(any_more);
}

TEST(BinRule, BinsOfIntegersHoldOneAtLeast) {
  const Sample bytes{1'000'000, 0, 255, 1, true};
  EXPECT_EQ(bins_by(BinRule::sqrt, bytes), 255);
  EXPECT_EQ(bins_by(BinRule::scott, bytes), 255);
  EXPECT_EQ(bins_by(BinRule::sturges, bytes), 21);  // wider ones
  Sample reals = bytes;
  reals.of_integers = false;
  EXPECT_EQ(bins_by(BinRule::sqrt, reals), 1000);
}

TEST(BinRule, OneBinIfThereIsNoWidth) {
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  for (const BinRule rule : all_rules) {
    EXPECT_EQ(bins_by(rule, {1, 7, 7, 0, false}), 1);
    EXPECT_EQ(bins_by(rule, {1000, 0.1, 0.1, 1e-17, false}), 1) << "a rounded mean";
    EXPECT_EQ(bins_by(rule, {1000, 3, 3, 0, true}), 1);
    EXPECT_EQ(bins_by(rule, {1000, -1e308, 1e308, 1e308, false}), 1) << "an infinite range";
  }
  EXPECT_EQ(bins_by(BinRule::sqrt, {1000, 0, smallest, 0, false}), 1);
  EXPECT_EQ(bins_by(BinRule::scott, {1000, 0, 1e-170, 0, false}), 1) << "an underflow";
}

TEST(BinRule, MayGiveMoreThanAHistogramHas) {
  EXPECT_EQ(bins_by(BinRule::sqrt, {std::uint64_t{1} << 44, 0, 1, 0, false}), 1 << 22);
  EXPECT_GT(bins_by(BinRule::scott, {1'000'000'000, 0, 1e9, 1, false}), max_bins);
}

TEST(BinRule, LikelyBinsAreThoseThatMemoryIsFor) {
  const auto likely = [](BinCount bins, ElementType type, std::uint64_t elements) {
    return likely_bins({.bins = bins}, type, elements);
  };
  EXPECT_EQ(likely(17, ElementType::f4, 1'000'000), 17u);
  EXPECT_EQ(likely(BinRule::sqrt, ElementType::f4, 1'000'000), 1000u);
  EXPECT_EQ(likely(BinRule::sturges, ElementType::f4, 1 << 20), 21u);
  EXPECT_EQ(likely(BinRule::scott, ElementType::f8, 1'000'000), 344u);
  EXPECT_EQ(likely(BinRule::sqrt, ElementType::i1, 1'000'000), 256u);
  EXPECT_EQ(likely(BinRule::sqrt, ElementType::f8, std::uint64_t{1} << 50), max_bins);
  EXPECT_EQ(likely(BinRule::scott, ElementType::f8, 0), 1u);
  EXPECT_EQ(likely_bins({.bins = BinRule::sqrt, .edges = {0, 1, 2}}, ElementType::f4, 9), 2u);
}

TEST(BinRule, ANumberOrARule) {
  EXPECT_EQ(BinCount(7).number(), 7u);
  EXPECT_FALSE(BinCount(7).rule());
  EXPECT_EQ(BinCount(BinRule::scott).rule(), BinRule::scott);
  EXPECT_EQ(HistogramOptions{}.bins, 256u);
  EXPECT_EQ(HistogramOptions{.bins = BinRule::sqrt}.bins, BinRule::sqrt);
  EXPECT_NE(BinCount(BinRule::sqrt), BinCount(BinRule::scott));
  EXPECT_NE(BinCount(BinRule::sqrt), BinCount(0));
}

}  // namespace
}  // namespace ooc::detail::binning
