#pragma once

#include <ooc/dtype.hpp>
#include <ooc/histogram_2d.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "histogram/bins.hpp"
#include "support/bits.hpp"
#include "support/matrices.hpp"

// Histograms of pairs by the definition, for tests.

namespace ooc::detail::test {

/// Random bits, which hold NaN and infinities of all floating types, and small numbers.
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random();
    value =
        bits % 4 == 0 ? from_bits<T>(bits) : from_double<T>(static_cast<double>(bits / 4 % 100));
  }
  return values;
}

/// Counts by the definition, one pair after the other.
template <class X, class Y>
Histogram2d count_one_by_one(const std::vector<X>& x, const std::vector<Y>& y,
                             const binning::Bins& x_bins, const binning::Bins& y_bins) {
  Histogram2d expected{
      .x_edges = x_bins.edges, .y_edges = y_bins.edges, .counts = {}, .count = x.size()};
  expected.counts.resize(x_bins.size() * y_bins.size());
  const auto bin_in = [](const binning::Bins& bins, double value) {
    return binning::visit(bins, [&](auto found) { return std::size_t{found.bin_of(value)}; });
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = to_double(x[i]), b = to_double(y[i]);
    const std::size_t column = bin_in(x_bins, a), row = bin_in(y_bins, b);
    if (std::isnan(a) || std::isnan(b)) {
      ++expected.nan;
    } else if (column >= x_bins.size() || row >= y_bins.size()) {
      ++expected.outside;
    } else {
      ++expected.counts[column * y_bins.size() + row];
    }
  }
  return expected;
}

inline void expect_equal(const Histogram2d& found, const Histogram2d& expected) {
  EXPECT_EQ(found.x_edges, expected.x_edges);
  EXPECT_EQ(found.y_edges, expected.y_edges);
  EXPECT_EQ(found.counts, expected.counts);
  EXPECT_EQ(found.outside, expected.outside);
  EXPECT_EQ(found.nan, expected.nan);
  EXPECT_EQ(found.count, expected.count);
}

}  // namespace ooc::detail::test
