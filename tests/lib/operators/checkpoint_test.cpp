// Folds that go on where an earlier run was stopped, killed or has failed.

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "support/bits.hpp"

namespace ooc {
namespace {

using test::bits_of;
using test::expect_error;
using test::partition;

/// A sum whose bits show the order of additions.
struct NamedSum : test::RoundedSum {
  static constexpr std::string_view partial_name = "test.sum/1";
};

/// The number of values that are above a bound.
struct CountAbove {
  using Input = float;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::size_t partition_records = 2 * partition;
  static constexpr std::string_view partial_name = "test.above/1";
  float bound;

  std::string question() const { return "above " + std::to_string(bound); }
  void consume(Stream& stream, DeviceChunk<const float> in, std::uint64_t& count) const {
    for (const float value : test::on_host<const float>(stream, in)) count += value > bound;
  }
  void merge(std::uint64_t& total, const std::uint64_t& part) const { total += part; }
};

class CheckpointTest : public test::ResidentFixture {
 protected:
  static constexpr std::size_t partitions_ = 51;

  /// Options with a checkpoint after each partition.
  PassOptions after_each() const { return {.checkpoint = {.file = path_, .every_seconds = 0}}; }

  /// A sum that calls `call` at a partition of that number, counted from 1, and counts all.
  NamedSum sum_with(std::size_t number, std::function<void()> call) {
    seen_ = 0;
    NamedSum sum;
    sum.at_partition = [this, number, call = std::move(call)] {
      if (++seen_ == number) call();
    };
    return sum;
  }
  NamedSum counted_sum() {
    return sum_with(0, [] {});
  }

  /// Runs a fold that stops within a section, and leaves a file.
  void leave_file() {
    Coordinator machine = coordinator();
    EXPECT_THROW(fold(machine, sum_with(20, [] { throw std::runtime_error("broken"); }), source_,
                      after_each()),
                 std::runtime_error);
    EXPECT_TRUE(std::filesystem::exists(path_));
  }

  float expected() {
    Coordinator machine = coordinator();
    return fold(machine, NamedSum{}, source_).value;
  }

  std::filesystem::path path_ = dir_.path() / "sum.part";
  std::atomic<std::size_t> seen_{0};
};

TEST_P(CheckpointTest, GoesOnAfterAFailure) {
  leave_file();
  Coordinator machine = coordinator({.chunk_bytes = partition * sizeof(float), .streams = 1});
  const auto [sum, stats] = fold(machine, counted_sum(), source_, {.checkpoint = {.file = path_}});
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_EQ(seen_, partitions_ - 19);
  EXPECT_EQ(stats.outcome.resumed_bytes, 19 * partition * sizeof(float));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
  EXPECT_EQ(stats.outcome.passes, 1u);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(CheckpointTest, GoesOnAfterAStop) {
  Coordinator machine = coordinator();
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
  // What was found before a stop is not computed again.
  EXPECT_EQ(seen + seen_, partitions_);
  EXPECT_GT(runs, 2u);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(CheckpointTest, SavesAfterEachPartition) {
  Coordinator machine = coordinator();
  const auto [sum, stats] = fold(machine, NamedSum{}, source_, after_each());
  EXPECT_EQ(bits_of(sum), bits_of(expected()));
  EXPECT_EQ(stats.outcome.checkpoints, partitions_ - 1);
  EXPECT_GT(stats.timing.checkpoint_seconds, 0);
  EXPECT_GT(stats.timing.seconds, stats.timing.checkpoint_seconds);
  EXPECT_EQ(stats.layout.chunks, partitions_);
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
  EXPECT_EQ(stats.outcome.checkpoints, 0u);
  EXPECT_FALSE(std::filesystem::exists(path_));
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

TEST_P(CheckpointTest, OfAPartStaysUntilTheCallerRemovesIt) {
  leave_file();
  Coordinator machine = coordinator();
  auto part = collect(machine, counted_sum(), source_, after_each()).value;
  EXPECT_EQ(seen_, partitions_ - 19);
  EXPECT_EQ(bits_of(std::move(part).result()), bits_of(expected()));
  auto [again, stats] = collect(machine, counted_sum(), source_, after_each());
  EXPECT_LE(seen_, 1u);  // the last partition is not saved
  EXPECT_EQ(bits_of(std::move(again).result()), bits_of(expected()));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
}

TEST_P(CheckpointTest, OfEmptyData) {
  Coordinator machine = coordinator();
  const test::ValuesFile nothing;
  const Source empty = nothing.source_of(std::vector<float>());
  EXPECT_EQ(fold(machine, NamedSum{}, empty, after_each()).value, 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
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

TEST_P(CheckpointTest, RefusesTheFileOfAnotherJob) {
  Coordinator machine = coordinator();
  leave_file();
  const std::string before = made("sum.part");
  expect_error(ErrorKind::usage, "sum.part: is of another job",
               [&] { fold(machine, CountAbove{1}, source_, after_each()); });
  expect_error(ErrorKind::usage, "is of another job", [&] {
    fold(machine, NamedSum{}, section(source_, 0, 30 * partition), after_each());
  });
  EXPECT_EQ(made("sum.part"), before);
  std::vector<float> changed = values();
  changed.front() = 7;
  const test::ValuesFile other;
  const Source copy = other.source_of(changed);
  expect_error(ErrorKind::input_changed, "sum.part: is of the data as they were",
               [&] { fold(machine, NamedSum{}, copy, after_each()); });
  EXPECT_EQ(made("sum.part"), before);

  PartFile part{.question = "1", .input = identity_of(source_)};
  part.add(collect(machine, NamedSum{}, source_).value);
  write_part_file(path_, part, true);
  expect_error(ErrorKind::usage, "is of another job",
               [&] { fold(machine, NamedSum{}, source_, after_each()); });
  std::ofstream(path_) << "a file of the user";
  expect_error(ErrorKind::bad_input, "is not a part",
               [&] { fold(machine, NamedSum{}, source_, after_each()); });
  EXPECT_EQ(made("sum.part"), "a file of the user");
}

/// Adds up values in their order.
struct SumInOrder : test::RoundedSum {
  static constexpr Merge merge_order = Merge::in_order;
};

TEST_P(CheckpointTest, RefusesWhatCannotGoOn) {
  Coordinator machine = coordinator();
  const PassOptions wanted = after_each();
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { fold(machine, SumInOrder{}, source_, wanted); });
  expect_error(ErrorKind::usage, "the findings of this operator cannot be saved",
               [&] { fold(machine, test::RoundedSum{}, source_, wanted); });
  expect_error(ErrorKind::usage, "only folds have checkpoints",
               [&] { map(machine, test::Doubled{}, source_, target("out"), wanted); });
  const Resident kept(machine, source_);
  expect_error(ErrorKind::usage, "data that stay on the device have no checkpoint",
               [&] { fold(machine, NamedSum{}, kept, wanted); });
  PassOptions with_checksum = wanted;
  with_checksum.checksum = true;
  expect_error(ErrorKind::usage, "a job with a checkpoint has no checksum",
               [&] { fold(machine, NamedSum{}, source_, with_checksum); });
  EXPECT_FALSE(std::filesystem::exists(path_));
}

INSTANTIATE_TEST_SUITE_P(Machines, CheckpointTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc
