// Jobs of two passes, of which the second depends on what the first has found.

#include <ooc/detail/operators/passes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <tuple>
#include <utility>

#include "io/expect_error.hpp"
#include "lib/parts/checkpoint_fixture.hpp"
#include "support/bits.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::CountAbove;
using test::expect_error;
using test::NamedSum;

/// Counts the values that are above the mean.
class PassesTest : public test::CheckpointTest {
 protected:
  struct Found {
    float sum = 0;
    std::uint64_t above = 0;
    Stats stats{};
    bool is_stopped = false;
  };

  /// `before_second` is called between the passes.
  Found run(
      const NamedSum& sum, const PassOptions& wanted = {},
      const std::function<void()>& before_second = [] {}) {
    Coordinator machine = coordinator();
    Passes passes(machine, inputs_of<float>(source_), wanted);
    Found found;
    std::tie(found.sum) = passes.fold(std::tuple(sum));
    found.is_stopped = passes.is_stopped();
    if (!found.is_stopped) {
      before_second();
      const float mean = found.sum / static_cast<float>(count_);
      std::tie(found.above) = passes.fold_last(std::tuple(CountAbove{mean}));
    }
    found.stats = passes.stats();
    return found;
  }

  void expect_right(const Found& found) {
    EXPECT_EQ(bits_of(found.sum), bits_of(expected()));
    const float mean = found.sum / static_cast<float>(count_);
    const auto all = values();
    EXPECT_EQ(found.above, static_cast<std::uint64_t>(std::ranges::count_if(
                               all, [&](float value) { return value > mean; })));
    EXPECT_EQ(found.stats.outcome.passes, 2u);
    EXPECT_EQ(found.stats.outcome.records, count_);
  }

  bool is_gpu() { return coordinator().device().kind() == DeviceKind::cuda; }
};

INSTANTIATE_TEST_SUITE_P(Machines, PassesTest, test::all_machines, test::machine_name);

TEST_P(PassesTest, DataStayOnAGpuUnlessEachPassMustReadThem) {
  const Found found = run(NamedSum{});
  expect_right(found);
  EXPECT_EQ(found.stats.outcome.resident_bytes, is_gpu() ? bytes_ : 0u);
  const Found checked = run(NamedSum{}, {.checksum = true});
  expect_right(checked);
  EXPECT_EQ(checked.stats.outcome.resident_bytes, 0u);
  EXPECT_TRUE(checked.stats.outcome.checksum);
}

TEST_P(PassesTest, AStoppedPassIsTheLast) {
  std::stop_source stop;
  const Found found = run(sum_with(5, [&] { stop.request_stop(); }),
                          {.stop = stop.get_token(), .keep_partial = true});
  EXPECT_TRUE(found.is_stopped);
  EXPECT_TRUE(found.stats.outcome.partial);
  EXPECT_LT(found.stats.outcome.records, count_);
  EXPECT_EQ(found.stats.outcome.passes, 1u);
}

TEST_P(PassesTest, GoesOnInThePassThatFailed) {
  const auto fail = [] { throw std::runtime_error("broken"); };
  EXPECT_THROW(run(sum_with(20, fail), after_each()), std::runtime_error);
  expect_right(run(counted_sum(), after_each()));
  EXPECT_EQ(seen_, partitions_ - 19);  // of the first pass
  std::filesystem::remove(path_);

  // The first pass is kept as soon as the second one has saved something.
  std::stop_source stop;
  PassOptions wanted = after_each();
  wanted.stop = stop.get_token();
  expect_error(ErrorKind::interrupted, "has what was found in",
               [&] { run(counted_sum(), wanted, [&] { stop.request_stop(); }); });
  const Found again = run(counted_sum(), after_each());
  expect_right(again);
  EXPECT_EQ(seen_, 0u);
  EXPECT_GE(again.stats.outcome.resumed_bytes, bytes_);
  EXPECT_LT(again.stats.outcome.resumed_bytes, 2 * bytes_);
}

TEST_P(PassesTest, GoesOnWithASection) {
  const Source part = section(source_, 4 * test::partition, 20 * test::partition);
  std::stop_source stop;
  PassOptions wanted = after_each();
  wanted.stop = stop.get_token();
  const auto sum_of = [&](const PassOptions& options, std::stop_source* stopped) {
    Coordinator machine = coordinator();
    const NamedSum counted = counted_sum();
    Passes passes(machine, inputs_of<float>(part), options);
    const auto [sum] = passes.fold(std::tuple(counted));
    if (stopped != nullptr) stopped->request_stop();
    passes.fold_last(std::tuple(CountAbove{0.5f}));
    return sum;
  };
  EXPECT_THROW(sum_of(wanted, &stop), Error);
  const float again = sum_of(after_each(), nullptr);
  EXPECT_EQ(seen_, 0u);
  Coordinator machine = coordinator();
  EXPECT_EQ(bits_of(again), bits_of(fold(machine, NamedSum{}, part).value));
}

TEST_P(PassesTest, WhatAnotherJobHasKeptIsRefused) {
  std::stop_source stop;
  PassOptions wanted = after_each();
  wanted.stop = stop.get_token();
  EXPECT_THROW(run(NamedSum{}, wanted, [&] { stop.request_stop(); }), Error);
  Coordinator machine = coordinator();
  const PassOptions again = after_each();
  expect_error(ErrorKind::usage, "is of another job", [&] {
    Passes passes(machine, inputs_of<float>(source_), again);
    passes.fold(std::tuple(CountAbove{0.5f}));
  });
  const Source half = section(source_, 0, 10 * test::partition);
  expect_error(ErrorKind::usage, "is of another job", [&] {
    Passes passes(machine, inputs_of<float>(half), again);
    passes.fold(std::tuple(NamedSum{}));
  });
}

}  // namespace
}  // namespace ooc::detail
