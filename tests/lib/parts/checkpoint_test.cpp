// Folds that go on where an earlier run was stopped, killed or has failed.

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/parts/checkpoint_fixture.hpp"
#include "support/bits.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::CheckpointTest;
using test::CountAbove;
using test::expect_error;
using test::NamedSum;
using test::partition;
using test::WeightedRows;

TEST_P(CheckpointTest, GoesOnAfterAFailure) {
  leave_file();
  Coordinator machine = coordinator({.chunk_bytes = partition * sizeof(float), .streams = 1});
  const auto [sum, stats] = fold(machine, counted_sum(), source_, {.checkpoint = {.file = path_}});
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_EQ(seen_, partitions_ - 19);
  EXPECT_EQ(stats.outcome.resumed_bytes, 19 * partition * sizeof(float));
  EXPECT_EQ(stats.outcome.records, bytes_ / sizeof(float));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
  EXPECT_EQ(stats.outcome.passes, 1u);
}

TEST_P(CheckpointTest, GoesOnAfterAStop) {
  // With more streams, more may be done before a stop is noticed.
  Coordinator machine = coordinator({.chunk_bytes = 4 * partition * sizeof(float), .streams = 2});
  std::size_t runs = 0, seen = 0;
  for (;;) {
    ASSERT_LT(++runs, 20u);
    std::stop_source stop;
    PassOptions wanted{.stop = stop.get_token(), .checkpoint = {.file = path_}};
    try {
      const auto found = fold(machine, sum_with(10, [&] { stop.request_stop(); }), source_, wanted);
      EXPECT_EQ(bits_of(found.value), bits_of(expected()));
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
      EXPECT_NE(std::string(error.what()).find(path_.string() + " has what was found in "),
                std::string::npos)
          << error.what();
    }
    seen += seen_;
  }
  // Nothing that was found before a stop is computed again.
  EXPECT_EQ(seen + seen_, partitions_);
  EXPECT_GT(runs, 2u);
}

TEST_P(CheckpointTest, SavesAfterEachPartition) {
  Coordinator machine = coordinator();
  const auto [sum, stats] = fold(machine, NamedSum{}, source_, after_each());
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_EQ(stats.outcome.checkpoints, partitions_);
  EXPECT_GT(stats.timing.checkpoint_seconds, 0);
  EXPECT_GT(stats.timing.seconds, stats.timing.checkpoint_seconds);
  EXPECT_EQ(stats.layout.chunks, partitions_);
  EXPECT_EQ(stats.outcome.records, bytes_ / sizeof(float));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
  EXPECT_EQ(stats.outcome.resumed_bytes, 0u);
}

TEST_P(CheckpointTest, AShortRunIsOnePass) {
  Coordinator machine = coordinator();
  bool was_there = false;
  const auto op = sum_with(5, [&] { was_there = std::filesystem::exists(path_); });
  const auto [sum, stats] = fold(machine, op, source_, {.checkpoint = {.file = path_}});
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_TRUE(was_there);
  EXPECT_EQ(stats.outcome.checkpoints, 1u);  // at the end
}

TEST_P(CheckpointTest, StaysUntilTheCallerRemovesIt) {
  leave_file();
  Coordinator machine = coordinator();
  EXPECT_EQ(bits_of(fold(machine, counted_sum(), source_, after_each()).value),
            bits_of(expected()));
  EXPECT_EQ(seen_, partitions_ - 19);
  const auto [again, stats] = fold(machine, counted_sum(), source_, after_each());
  EXPECT_EQ(seen_, 0u);
  EXPECT_EQ(bits_of(again), bits_of(expected()));
  EXPECT_EQ(stats.outcome.records, bytes_ / sizeof(float));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
  EXPECT_EQ(stats.outcome.resumed_bytes, bytes_);
  auto part = collect(machine, counted_sum(), source_, after_each()).value;
  EXPECT_EQ(seen_, 0u);
  EXPECT_EQ(bits_of(std::move(part).result()), bits_of(expected()));
}

/// A sum on lanes that are slow to start.
struct LateSum : NamedSum {
  float make_partial(Stream&) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    return 0;
  }
};

TEST_P(CheckpointTest, LanesThatStartLateAreGivenTime) {
  const Source few = section(source_, 0, 2 * partition);
  Coordinator machine = coordinator();
  EXPECT_EQ(bits_of(fold(machine, LateSum{}, few, after_each()).value),
            bits_of(fold(machine, NamedSum{}, few).value));
}

TEST_P(CheckpointTest, ALongRunIsSavedFromTimeToTime) {
  Coordinator machine = coordinator();
  NamedSum slow;
  slow.at_partition = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  const auto [sum, stats] =
      fold(machine, slow, source_, {.checkpoint = {.file = path_, .every_seconds = 0.1}});
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_GE(stats.outcome.checkpoints, 1u);
}

TEST_P(CheckpointTest, OfSeveralOperators) {
  const std::tuple both{counted_sum(), CountAbove{0.5f}};
  std::stop_source stop;
  Coordinator machine = coordinator();
  PassOptions wanted = after_each();
  wanted.stop = stop.get_token();
  const std::tuple stopped{sum_with(21, [&] { stop.request_stop(); }), CountAbove{0.5f}};
  expect_error(ErrorKind::interrupted, "sum.part has what was found in",
               [&] { fold(machine, stopped, source_, wanted); });
  const auto [found, stats] = fold(machine, both, source_, after_each());
  EXPECT_EQ(bits_of(std::get<0>(found)), bits_of(expected()));
  EXPECT_EQ(std::get<1>(found), fold(machine, CountAbove{0.5f}, source_).value);
  EXPECT_GE(stats.outcome.resumed_bytes, 20 * partition * sizeof(float));
  // Sections are of the larger partitions.
  EXPECT_EQ(stats.outcome.resumed_bytes % (2 * partition * sizeof(float)), 0u);
}

TEST_P(CheckpointTest, OfASection) {
  Coordinator machine = coordinator();
  const Source part = section(source_, 8 * partition, 30 * partition);
  const float alone = fold(machine, NamedSum{}, part).value;
  const auto broken = sum_with(12, [] { throw std::runtime_error("broken"); });
  EXPECT_THROW(fold(machine, broken, part, after_each()), std::runtime_error);
  const auto [sum, stats] = fold(machine, counted_sum(), part, after_each());
  EXPECT_EQ(bits_of(sum), bits_of(alone));
  EXPECT_EQ(seen_, 30u - 11);
  EXPECT_EQ(stats.outcome.bytes, part.bytes());
}

TEST_P(CheckpointTest, OfRowsOfSeveralFiles) {
  constexpr std::size_t rows = 10 * 1024 + 3, columns = 4;
  auto all = values();
  all.resize(rows * columns);
  const test::ValuesFile first, second;
  Source points = first.source_of(all);
  points.set_shape({rows, columns});
  const Source weights = second.source_of(std::vector<float>(all.begin(), all.begin() + rows));
  Coordinator machine = coordinator();
  const double expected = fold(machine, WeightedRows{}, zip(points, weights)).value;
  for (const double every : {0.0, 30.0}) {
    std::stop_source stop;
    WeightedRows stopped;
    seen_ = 0;
    stopped.at_partition = [&] {
      if (++seen_ == 3) stop.request_stop();
    };
    const Checkpoint checkpoint{.file = path_, .every_seconds = every};
    bool was_stopped = false;  // unless all steps had begun
    try {
      fold(machine, stopped, zip(points, weights),
           {.stop = stop.get_token(), .checkpoint = checkpoint});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      was_stopped = true;
    }
    EXPECT_TRUE(was_stopped || every > 0);
    const auto [sum, stats] =
        fold(machine, WeightedRows{}, zip(points, weights), {.checkpoint = checkpoint});
    EXPECT_EQ(bits_of(sum), bits_of(expected));
    constexpr std::size_t partition_bytes = 1024 * (columns + 1) * sizeof(float);
    EXPECT_TRUE(!was_stopped || stats.outcome.resumed_bytes % partition_bytes == 0);
    EXPECT_GE(stats.outcome.resumed_bytes, 3 * partition_bytes);
    std::filesystem::remove(path_);
  }
}

TEST_P(CheckpointTest, OfEmptyData) {
  Coordinator machine = coordinator();
  const test::ValuesFile nothing;
  const Source empty = nothing.source_of(std::vector<float>());
  EXPECT_EQ(fold(machine, NamedSum{}, empty, after_each()).value, 0);
}

TEST_P(CheckpointTest, ProgressAndEventsAreOfTheWhole) {
  leave_file();
  Coordinator machine = coordinator();
  std::mutex mutex;
  std::set<std::tuple<TraceEvent::Kind, std::size_t, std::size_t>> events;
  std::uint64_t bytes = 0, at_first = bytes_;
  PassOptions wanted = after_each();
  wanted.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total_bytes, bytes_);
    EXPECT_GE(progress.bytes, bytes);
    bytes = progress.bytes;
    at_first = std::min(at_first, progress.bytes);
  };
  wanted.observe = [&](const TraceEvent& event) {
    const std::scoped_lock lock(mutex);
    const bool is_new = events.emplace(event.kind, event.chunk, event.worker).second;
    EXPECT_TRUE(is_new || event.kind == TraceEvent::Kind::read) << event.chunk;
  };
  const auto [sum, stats] = fold(machine, NamedSum{}, source_, wanted);
  EXPECT_EQ(bytes, bytes_);
  EXPECT_GE(at_first, 19 * partition * sizeof(float));
  std::set<std::size_t> chunks;
  for (const auto& [kind, chunk, worker] : events) {
    if (kind == TraceEvent::Kind::kernel) chunks.insert(chunk);
  }
  EXPECT_EQ(chunks.size(), stats.layout.chunks);
}

TEST_P(CheckpointTest, AFileThatCannotBeWrittenLaterIsARemark) {
  const std::filesystem::path inside = dir_.path() / "inside" / "sum.part";
  Coordinator machine = coordinator();
  PassOptions wanted = after_each();
  wanted.checkpoint.file = inside;
  expect_error(ErrorKind::output, "sum.part",  // before the work
               [&] { fold(machine, counted_sum(), source_, wanted); });
  EXPECT_EQ(seen_, 0u);
  std::filesystem::create_directory(inside.parent_path());
  const auto op = sum_with(10, [&] { std::filesystem::remove_all(inside.parent_path()); });
  const auto [sum, stats] = fold(machine, op, source_, wanted);
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  const auto says_so = [](const std::string& remark) {
    return remark.find("could not be saved") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(stats.outcome.remarks, says_so), 1);
  EXPECT_LT(stats.outcome.checkpoints, 10u);
}

INSTANTIATE_TEST_SUITE_P(Machines, CheckpointTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc::detail
