#pragma once

#include <ooc/histogram.hpp>

#include <gtest/gtest.h>

namespace ooc::detail::test {

inline void expect_equal(const Histogram& found, const Histogram& expected) {
  EXPECT_EQ(found.edges, expected.edges);
  EXPECT_EQ(found.counts, expected.counts);
  EXPECT_EQ(found.below, expected.below);
  EXPECT_EQ(found.above, expected.above);
  EXPECT_EQ(found.nan, expected.nan);
  EXPECT_EQ(found.count, expected.count);
}

}  // namespace ooc::detail::test
