#include <ooc/detail/observe/progress_reporter.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace ooc::detail {
namespace {

TEST(ProgressReporter, ReportsHowFarAPassHasCome) {
  std::vector<Progress> reports;
  const std::function<void(const Progress&)> collect = [&](const Progress& now) {
    reports.push_back(now);
  };
  ProgressReporter reporter(collect, 100);
  reporter.report(10, 10, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  reporter.report(10, 10, 2);
  reporter.report(60, 70, 1);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[1].bytes, 10u);
  EXPECT_EQ(reports[1].total_bytes, 100u);
  EXPECT_EQ(reports[1].in_flight, 2u);
  EXPECT_GE(reports[1].stalled_seconds, 0.002);
  EXPECT_EQ(reports[2].bytes, 60u);
  EXPECT_EQ(reports[2].stalled_seconds, 0);
  EXPECT_GE(reports[2].seconds, reports[1].seconds);
}

TEST(ProgressReporter, IsSilentWithoutAnObserver) {
  const std::function<void(const Progress&)> none;
  ProgressReporter(none, 100).report(1, 1, 1);
}

}  // namespace
}  // namespace ooc::detail
