#include "bench/limit.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(BenchLimit, TheSlowestStageSetsItAndTheLastChunkPassesThoseBehind) {
  const RateLimit disk = limit_of({.source = 4e9, .link = 50e9, .kernel = 2e12}, 8e9, 1e9);
  EXPECT_EQ(disk.stage, "source");
  EXPECT_DOUBLE_EQ(disk.bytes_per_second, 8e9 / (2 + 0.02 + 0.0005));
}

TEST(BenchLimit, NothingIsBehindTheKernel) {
  const RateLimit kernel = limit_of({.source = 4e9, .kernel = 2e9}, 8e9, 1e9);
  EXPECT_EQ(kernel.stage, "kernel");
  EXPECT_DOUBLE_EQ(kernel.bytes_per_second, 2e9);
}

TEST(BenchLimit, TheLink) {
  const RateLimit link = limit_of({.source = 60e9, .link = 50e9, .kernel = 100e9}, 100e9, 10e9);
  EXPECT_EQ(link.stage, "link");
  EXPECT_DOUBLE_EQ(link.bytes_per_second, 100e9 / 2.1);
}

TEST(BenchLimit, AFileSmallerThanAChunk) {
  EXPECT_DOUBLE_EQ(limit_of({.source = 1e9, .kernel = 1e9}, 1e6, 1e9).bytes_per_second, 0.5e9);
}

}  // namespace
}  // namespace ooc_run
