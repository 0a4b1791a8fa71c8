#include "bench/run.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

TEST(BenchRun, ProgressBeginsWithNothingAndEndsWithEverything) {
  const ooc::detail::test::TempDir dir;
  BenchJob job{.path = dir.write("x.bin", std::string(3'000'000, 'x')).string(), .runs = 2};
  for (const bool sweep : {false, true}) {
    job.sweep = sweep;
    std::vector<double> done, total;
    job.progress = [&](double done_bytes, const BenchReads& all) {
      done.push_back(done_bytes);
      total.push_back(all.bytes());
    };
    run_measurements(job);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.front(), 0);
    for (std::size_t i = 1; i < done.size(); ++i) EXPECT_GT(done[i], done[i - 1]);
    EXPECT_EQ(done.back(), total.back());
    EXPECT_EQ(total.front(), total.back());
  }
}

}  // namespace
}  // namespace ooc_run
