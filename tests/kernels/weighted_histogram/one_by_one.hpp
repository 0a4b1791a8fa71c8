#pragma once

#include <ooc/dtype.hpp>
#include <ooc/weighted_histogram.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <variant>
#include <vector>

#include "histogram/bins.hpp"
#include "support/bits.hpp"
#include "support/matrices.hpp"
#include "verify/plain_sum.hpp"

// Sums of weights by the definition, for tests.

namespace ooc::detail::test {

/// Random bits, which hold NaN and infinities of all floating types, and small numbers.
template <class T>
std::vector<T> random_weights(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random();
    value =
        bits % 4 == 0 ? from_bits<T>(bits) : from_double<T>(static_cast<double>(bits / 4 % 100));
  }
  return values;
}

/// Random bits without NaN and infinities, so that most sums are finite.
template <class T>
std::vector<T> finite_weights(std::size_t count, std::uint64_t seed) {
  std::vector<T> values = random_weights<T>(count, seed);
  for (T& value : values) {
    if (!std::isfinite(to_double(value))) value = from_bits<T>(1);
  }
  return values;
}

/// Returns the sum of weights, in the order of their places.
template <class W>
Scalar sum_of(const std::vector<W>& weights, const std::vector<std::size_t>& places) {
  if constexpr (std::is_integral_v<W>) {
    int128 sum = 0;
    for (const std::size_t place : places) sum += weights[place];
    return sum;
  } else {
    plain::PlainSum sum;
    double others = 0;
    for (const std::size_t place : places) {
      const double weight = to_double(weights[place]);
      std::isfinite(weight) ? sum.add(weight) : static_cast<void>(others += weight);
    }
    return others == 0 ? sum.rounded() : others;
  }
}

/// Adds by the definition, one weight after the other.
template <class X, class W>
WeightedHistogram add_one_by_one(const std::vector<X>& values, const std::vector<W>& weights,
                                 const binning::Bins& bins) {
  std::vector<std::vector<std::size_t>> places(bins.counters());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number =
        binning::visit(bins, [&](auto found) { return found.bin_of(to_double(values[i])); });
    places[number].push_back(i);
  }
  WeightedHistogram expected;
  Histogram& histogram = expected.histogram;
  histogram = {.edges = bins.edges, .counts = {}, .count = values.size()};
  const std::size_t size = bins.size();
  for (std::size_t i = 0; i < size; ++i) {
    histogram.counts.push_back(places[i].size());
    expected.sums.push_back(sum_of(weights, places[i]));
  }
  histogram.below = places[size].size();
  histogram.above = places[size + 1].size();
  histogram.nan = places[size + 2].size();
  expected.sum_below = sum_of(weights, places[size]);
  expected.sum_above = sum_of(weights, places[size + 1]);
  expected.sum_nan = sum_of(weights, places[size + 2]);
  return expected;
}

/// Expects the same integer, or the same bits; any NaN equals NaN.
inline void expect_same(const Scalar& found, const Scalar& expected) {
  ASSERT_EQ(found.index(), expected.index());
  const auto* const real = std::get_if<double>(&found);
  if (real == nullptr) {
    EXPECT_TRUE(found == expected) << to_string(found) << ", not " << to_string(expected);
  } else if (!std::isnan(*real) || !std::isnan(expected.value())) {
    EXPECT_EQ(bits_of(*real), bits_of(expected.value()))
        << to_string(found) << ", not " << to_string(expected);
  }
}

inline void expect_equal(const WeightedHistogram& found, const WeightedHistogram& expected) {
  EXPECT_EQ(found.histogram.edges, expected.histogram.edges);
  EXPECT_EQ(found.histogram.counts, expected.histogram.counts);
  EXPECT_EQ(found.histogram.below, expected.histogram.below);
  EXPECT_EQ(found.histogram.above, expected.histogram.above);
  EXPECT_EQ(found.histogram.nan, expected.histogram.nan);
  EXPECT_EQ(found.histogram.count, expected.histogram.count);
  ASSERT_EQ(found.sums.size(), expected.sums.size());
  for (std::size_t i = 0; i < found.sums.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same(found.sums[i], expected.sums[i]);
  }
  expect_same(found.sum_below, expected.sum_below);
  expect_same(found.sum_above, expected.sum_above);
  expect_same(found.sum_nan, expected.sum_nan);
}

}  // namespace ooc::detail::test
