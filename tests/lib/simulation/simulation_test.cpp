// Simulates passes of random shape with random troubles, on an engine and a device that work late
// and out of order. simulation.hpp lists the rules that must hold. OOC_SIMULATION_SEED repeats the
// pass with this seed, in which only the order of the threads can differ. OOC_SIMULATION_SCHEDULES
// sets the number of passes.

#include "lib/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "support/effort.hpp"
#include "support/watchdog.hpp"

namespace ooc::detail::test {
namespace {

constexpr std::uint64_t shards = 8;  // which ctest runs in parallel
// Takes about ten seconds of one core. Tests with the label `full` run 100,000.
constexpr std::uint64_t schedules = effort(20'000, 2'000);

class SimulationTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// False if a rule was broken.
  bool holds(std::uint64_t seed) {
    watchdog_.begin(seed);
    const Scenario scenario(seed);
    const Outcome outcome = simulate(world_, scenario);
    (outcome.failed ? failed_ : outcome.stopped ? stopped_ : through_) += 1;
    resizes_ += outcome.resizes;
    tunings_ += outcome.tunings;
    checksums_ += outcome.checksums;
    EXPECT_EQ(outcome.complaint, "") << scenario.describe();
    return outcome.complaint.empty();
  }

  World world_;
  Watchdog watchdog_;
  int through_ = 0, stopped_ = 0, failed_ = 0;
  std::size_t resizes_ = 0, tunings_ = 0, checksums_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shards, SimulationTest, testing::Range(std::uint64_t{0}, shards));

TEST_P(SimulationTest, EveryScheduleKeepsTheRules) {
  const std::uint64_t count = number_in("OOC_SIMULATION_SCHEDULES").value_or(schedules) / shards;
  if (const auto seed = number_in("OOC_SIMULATION_SEED")) {
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(holds(*seed));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(holds(i * shards + GetParam()));
  EXPECT_GT(through_, 0);
  EXPECT_GT(stopped_, 0);
  EXPECT_GT(failed_, 0);
  EXPECT_GT(resizes_, 0u);
  EXPECT_GT(tunings_, 0u);
  EXPECT_GT(checksums_, 0u);
  RecordProperty("through", through_);
  RecordProperty("stopped", stopped_);
  RecordProperty("failed", failed_);
  RecordProperty("resizes", static_cast<int>(resizes_));
  RecordProperty("tunings", static_cast<int>(tunings_));
  RecordProperty("checksums", static_cast<int>(checksums_));
}

}  // namespace
}  // namespace ooc::detail::test
