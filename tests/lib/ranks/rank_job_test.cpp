#include <ooc/map.hpp>
#include <ooc/target.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "lib/operators/output_job_fixture.hpp"
#include "lib/ranks/ranks_fixture.hpp"

// Jobs of several ranks that write files, and that go on after a failure.

namespace ooc::detail::test {
namespace {

class RankJobs : public RanksTest {
 protected:
  /// Many steps of a map.
  static std::vector<float> many_values() {
    std::vector<float> values(60 * values_of_a_step + 5);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
    return values;
  }
};

std::string bytes_in(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary)
      .read(bytes.data(), static_cast<std::ptrdiff_t>(bytes.size()));
  return bytes;
}

std::size_t files_in(const std::filesystem::path& directory) {
  const std::filesystem::directory_iterator files(directory);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST_F(RankJobs, AMapWritesTheFileOfOneProcess) {
  const Source source = file_.source_of(many_values());
  const Target one{dir_.path() / "one.npy", type_of<double>()};
  Coordinator alone(cpu());
  map(alone, Halve{}, source, one);
  for (const std::size_t size : {1u, 2u, 5u}) {
    const Target target{dir_.path() / "out" / "many.npy", type_of<double>()};
    std::filesystem::create_directory(target.path.parent_path());
    expect_none(LocalRanks(size).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      const Stats stats = map(coordinator, Halve{}, source, target).stats;
      EXPECT_EQ(stats.outcome.bytes, source.bytes());
      EXPECT_TRUE(std::filesystem::exists(target.path));  // on each rank when map() returns
    }));
    EXPECT_EQ(files_in(target.path.parent_path()), 1u);
    EXPECT_TRUE(bytes_in(one.path) == bytes_in(target.path)) << size;
    std::filesystem::remove_all(target.path.parent_path());
  }
}

TEST_F(RankJobs, AMapThatGathersHasBothOutputsAndItsFindings) {
  const Source source = file_.source_of(many_values());
  const auto targets = [&](const std::string& name) {
    return std::array{Target{dir_.path() / (name + ".u8"), type_of<std::uint8_t>()},
                      Target{dir_.path() / (name + ".f32"), type_of<float>()}};
  };
  Coordinator alone(cpu());
  const std::uint64_t expected = map(alone, Divided{}, source, targets("one")).value;
  expect_none(LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    EXPECT_EQ(map(coordinator, Divided{}, source, targets("many")).value, expected);
  }));
  EXPECT_TRUE(bytes_in(dir_.path() / "one.u8") == bytes_in(dir_.path() / "many.u8"));
  EXPECT_TRUE(bytes_in(dir_.path() / "one.f32") == bytes_in(dir_.path() / "many.f32"));
}

TEST_F(RankJobs, AMapThatFailsLeavesNothing) {
  const Source source = file_.source_of(many_values());
  const Target target{dir_.path() / "out.f64", type_of<double>()};
  for (const std::size_t failing : {0u, 2u}) {
    std::atomic<std::size_t> arrived{0};
    const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      Halve op;
      const auto has_arrived = std::make_shared<std::atomic<bool>>(false);
      op.at_step = [&arrived, &ranks, failing, has_arrived] {
        if (!has_arrived->exchange(true)) ++arrived;
        while (arrived < ranks.size()) std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (ranks.rank() == failing) throw Error(ErrorKind::bad_input, "a bad value");
      };
      map(coordinator, op, source, target);
    });
    expect_errors(errors, ErrorKind::bad_input, "a bad value");
    EXPECT_EQ(files_in(dir_.path()), 0u);
  }
}

TEST_F(RankJobs, AnOutputInNoDirectoryIsAnErrorOnAllRanks) {
  const Source source = file_.source_of(many_values());
  const Target target{dir_.path() / "nowhere" / "out.f64", type_of<double>()};
  const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    map(coordinator, Halve{}, source, target);
  });
  expect_errors(errors, ErrorKind::output, "nowhere");
}

/// Fails after so many steps of all ranks.
struct Killed : RankSum {
  std::atomic<int>* steps_left;
  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it is saved before
    if (--*steps_left < 0) throw Error(ErrorKind::internal, "killed");
    RankSum::consume(stream, in, sum);
  }
};

TEST_F(RankJobs, AFoldGoesOnWithAnyNumberOfRanks) {
  const Source source = file_.source_of(values());
  const float expected = alone(RankSum{}, source);
  const std::filesystem::path directory = dir_.path() / "saved";
  std::uint64_t resumed = 0;
  for (const std::size_t size : {3u, 2u, 4u, 1u}) {
    std::atomic<int> steps{60};
    const auto errors = LocalRanks(size).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      fold(coordinator, Killed{{}, &steps}, source,
           {.checkpoint = {.file = directory, .every_seconds = 0}});
    });
    expect_errors(errors, ErrorKind::internal, "killed");
    EXPECT_GE(files_in(directory), 1u);
    // As if rank 0 had been killed before it removed what it had saved again.
    if (size == 3) std::filesystem::copy(directory / "rank-2.part", dir_.path() / "rank-9.part");
    if (size == 2) std::filesystem::rename(dir_.path() / "rank-9.part", directory / "rank-9.part");
  }
  expect_none(LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const auto [sum, stats] =
        fold(coordinator, RankSum{}, source, {.checkpoint = {.file = directory}});
    EXPECT_EQ(sum, expected);
    if (ranks.is_first()) resumed = stats.outcome.resumed_bytes;
    EXPECT_EQ(stats.outcome.records, bytes_ / sizeof(float));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
  }));
  EXPECT_GT(resumed, 0u);
  EXPECT_LT(resumed, bytes_);
  EXPECT_EQ(files_in(directory), 3u);  // the caller removes them
}

TEST_F(RankJobs, AMapGoesOnWithAnyNumberOfRanks) {
  const Source source = file_.source_of(many_values());
  const Target one{dir_.path() / "one.f64", type_of<double>()};
  Coordinator alone(cpu());
  map(alone, Halve{}, source, one);
  const std::filesystem::path directory = dir_.path() / "saved";
  const Target target{dir_.path() / "out" / "many.f64", type_of<double>()};
  std::filesystem::create_directory(target.path.parent_path());
  for (const std::size_t size : {3u, 2u, 4u}) {
    std::atomic<int> steps{15};
    const auto errors = LocalRanks(size).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      Halve op;
      op.at_step = [&steps] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (--steps < 0) throw Error(ErrorKind::internal, "killed");
      };
      map(coordinator, op, source, target, {.checkpoint = {.file = directory, .every_seconds = 0}});
    });
    expect_errors(errors, ErrorKind::internal, "killed");
    EXPECT_FALSE(std::filesystem::exists(target.path));
    EXPECT_EQ(files_in(target.path.parent_path()), 1u);  // what was made
  }
  expect_none(LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    map(coordinator, Halve{}, source, target, {.checkpoint = {.file = directory}});
  }));
  EXPECT_EQ(files_in(target.path.parent_path()), 1u);
  EXPECT_TRUE(bytes_in(one.path) == bytes_in(target.path));
}

TEST_F(RankJobs, ACheckpointOfAnotherJobIsRefusedOnAllRanks) {
  const Source source = file_.source_of(values());
  const std::filesystem::path directory = dir_.path() / "saved";
  std::atomic<int> steps{60};
  LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    fold(coordinator, Killed{{}, &steps}, source,
         {.checkpoint = {.file = directory, .every_seconds = 0}});
  });
  const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    fold(coordinator, OtherRankSum{}, source, {.checkpoint = {.file = directory}});
  });
  expect_errors(errors, ErrorKind::usage, "is of another job");
}

}  // namespace
}  // namespace ooc::detail::test
