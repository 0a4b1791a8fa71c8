#include "timeline/rate_bins.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint64_t>;

std::uint64_t sum_of(const RateBins& bins) {
  return std::accumulate(bins.bytes().begin(), bins.bytes().end(), std::uint64_t{0});
}

TEST(RateBins, SpreadBytesEvenlyOverTheirTime) {
  RateBins bins(10ns, 8);
  bins.add(5ns, 30ns, 100);
  EXPECT_EQ(bins.bytes(), (Bytes{20, 40, 40}));
  bins.add(30ns, 30ns, 7);  // a duration of 0
  EXPECT_EQ(bins.bytes(), (Bytes{20, 40, 40, 7}));
  EXPECT_EQ(bins.width(), 10ns);
}

TEST(RateBins, DoubleTheirWidthWhereTheyAreTooMany) {
  RateBins bins(10ns, 4);
  for (int i = 0; i < 4; ++i) bins.add(10ns * i, 10ns * (i + 1), 1u << i);
  EXPECT_EQ(bins.bytes(), (Bytes{1, 2, 4, 8}));
  bins.add(45ns, 50ns, 16);
  EXPECT_EQ(bins.width(), 20ns);
  EXPECT_EQ(bins.bytes(), (Bytes{3, 12, 16}));
  bins.add(3s, 3s + 1ns, 32);  // doubles many times
  EXPECT_EQ(sum_of(bins), 63u);
  EXPECT_LE(bins.bytes().size(), 4u);
}

TEST(RateBins, LoseNoByte) {
  std::mt19937_64 random(1);
  RateBins bins(1ms, 512);
  std::uint64_t sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto begin = std::chrono::nanoseconds(random() % 36'000'000'000'000);  // ten hours
    const std::uint64_t bytes = random() % 100'000'000;
    bins.add(begin, begin + std::chrono::nanoseconds(random() % 1'000'000'000), bytes);
    sum += bytes;
  }
  EXPECT_EQ(sum_of(bins), sum);
  EXPECT_LE(bins.bytes().size(), 512u);
  EXPECT_GT(bins.bytes().size(), 256u);
}

}  // namespace
}  // namespace ooc_run
