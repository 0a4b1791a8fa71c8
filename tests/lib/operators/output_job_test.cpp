// Jobs that write files and go on where an earlier run was stopped, killed or has failed.

#include <ooc/detail/operators/output_job.hpp>
#include <ooc/detail/parts/resumable_job.hpp>

#include <ooc/error.hpp>
#include <ooc/filter.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/output_job_fixture.hpp"

namespace ooc::detail {
namespace {

using test::Act;
using test::Divided;
using test::expect_error;
using test::Halve;
using test::KeepAbove;
using test::OutputJobTest;
using test::RunningSum;
using test::values_of_a_step;

INSTANTIATE_TEST_SUITE_P(Machines, OutputJobTest, test::all_machines, test::machine_name);

TEST_P(OutputJobTest, AMapGoesOn) {
  expect_goes_on([&](Coordinator& coordinator, const auto& directory, const Act& at_step,
                     const PassOptions& wanted) {
    const Target target = target_in(directory, "halves.npy", ElementType::f8);
    return map(coordinator, Halve{at_step}, data_, target, wanted).stats.outcome.bytes;
  });
}

TEST_P(OutputJobTest, AMapOfSeveralOutputsThatGathersGoesOn) {
  expect_goes_on([&](Coordinator& coordinator, const auto& directory, const Act& at_step,
                     const PassOptions& wanted) {
    const std::array targets{target_in(directory, "above.u8", ElementType::u1),
                             target_in(directory, "squares.bin", ElementType::f4)};
    return map(coordinator, Divided{at_step}, data_, targets, wanted).value;
  });
}

TEST_P(OutputJobTest, AFilterGoesOn) {
  for (const char* name : {"kept.npy", "kept.bin"}) {
    expect_goes_on([&](Coordinator& coordinator, const auto& directory, const Act& at_step,
                       const PassOptions& wanted) {
      const Target target = target_in(directory, name, ElementType::f4);
      const Selection found = filter(coordinator, KeepAbove{at_step}, data_, target, wanted).value;
      return std::pair(found.seen, found.kept);
    });
    std::filesystem::remove(path_);
    for (const auto& directory : {made_, whole_}) std::filesystem::remove(directory / name);
  }
}

TEST_P(OutputJobTest, AFilterThatHasKeptNothingGoesOn) {
  for (const std::uint64_t first : {7 * values_of_a_step, 100 * values_of_a_step}) {
    expect_goes_on([&](Coordinator& coordinator, const auto& directory, const Act& at_step,
                       const PassOptions& wanted) {
      const Target target = target_in(directory, "kept.npy", ElementType::f4);
      const KeepAbove late{at_step, 0.01f, first};
      return filter(coordinator, late, data_, target, wanted).value.kept;
    });
    std::filesystem::remove(path_);
    for (const auto& directory : {made_, whole_}) std::filesystem::remove(directory / "kept.npy");
  }
}

TEST_P(OutputJobTest, AScanGoesOn) {
  expect_goes_on([&](Coordinator& coordinator, const auto& directory, const Act& at_step,
                     const PassOptions& wanted) {
    const Target target = target_in(directory, "sums.npy", ElementType::f4);
    return scan(coordinator, RunningSum{at_step}, data_, target, wanted).stats.outcome.bytes;
  });
}

TEST_P(OutputJobTest, AJobOverASectionGoesOn) {
  const Source some = section(data_, 3 * values_of_a_step, 15 * values_of_a_step);
  Coordinator coordinator = machine();
  Target target = halves();
  target.path = whole_ / "halves.npy";
  map(coordinator, Halve{}, some, target);
  EXPECT_THROW(map(coordinator, Halve{failing(5)}, some, halves(), after_each()),
               std::runtime_error);
  map(coordinator, Halve{failing(0)}, some, halves(), after_each());
  EXPECT_EQ(seen_, 15u - 4u);
  EXPECT_TRUE(test::read_whole(made_ / "halves.npy") == test::read_whole(target.path));
}

TEST_P(OutputJobTest, EmptyDataMakeAnEmptyFile) {
  const Source nothing = section(data_, 0, 0);
  Coordinator coordinator = machine();
  Target target = halves();
  target.path = made_ / "halves.bin";
  for (int i = 0; i < 2; ++i) {
    map(coordinator, Halve{}, nothing, target, after_each());
    EXPECT_EQ(names_in(made_), std::vector<std::string>{"halves.bin"});
    EXPECT_EQ(std::filesystem::file_size(target.path), 0u);
  }
}

TEST_P(OutputJobTest, AStopLeavesWhatItTakesToGoOn) {
  Coordinator coordinator = machine();
  Target target = halves();
  target.path = whole_ / "halves.npy";
  map(coordinator, Halve{}, data_, target);
  std::size_t stops = 0;
  for (;;) {
    ASSERT_LT(stops, steps_);
    std::stop_source stop;
    const PassOptions wanted{.stop = stop.get_token(), .checkpoint = {.file = path_}};
    try {
      map(coordinator, Halve{acting(5, [&] { stop.request_stop(); })}, data_, halves(), wanted);
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
      ASSERT_EQ(names_in(made_).size(), 1u);
      const std::string kept = (made_ / names_in(made_).front()).string();
      EXPECT_NE(std::string(error.what())
                    .find(path_.string() + " and " + kept + " have what was made of "),
                std::string::npos)
          << error.what();
    }
    ++stops;
  }
  EXPECT_GE(stops, 1u);
  EXPECT_EQ(names_in(made_), std::vector<std::string>{"halves.npy"});
  EXPECT_TRUE(test::read_whole(made_ / "halves.npy") == test::read_whole(target.path));
}

TEST_P(OutputJobTest, WhatWasMovedIntoPlaceStaysThere) {
  Coordinator coordinator = machine();
  const std::array targets{target_in(made_, "above.u8", ElementType::u1),
                           target_in(made_, "squares.bin", ElementType::f4)};
  // The second output cannot be moved, since there is a file meanwhile.
  const auto in_the_way = [&] { std::ofstream(targets[1].path) << "in the way"; };
  expect_error(ErrorKind::output, "exists already", [&] {
    map(coordinator, Divided{acting(3, in_the_way)}, data_, targets, after_each());
  });
  EXPECT_TRUE(std::filesystem::exists(targets[0].path));
  const auto written = std::filesystem::last_write_time(targets[0].path);
  std::filesystem::remove(targets[1].path);
  const auto [count, stats] = map(coordinator, Divided{failing(1)}, data_, targets, after_each());
  EXPECT_EQ(names_in(made_), (std::vector<std::string>{"above.u8", "squares.bin"}));
  EXPECT_EQ(std::filesystem::last_write_time(targets[0].path), written);
  EXPECT_EQ(count, map(coordinator, Divided{}, data_,
                       std::array{target_in(whole_, "above.u8", ElementType::u1),
                                  target_in(whole_, "squares.bin", ElementType::f4)})
                       .value);
}

TEST_P(OutputJobTest, WhatACheckRefusesIsKept) {
  Coordinator coordinator = machine();
  const std::array targets{target_in(made_, "above.u8", ElementType::u1),
                           target_in(made_, "squares.bin", ElementType::f4)};
  try {
    map(coordinator, Divided{[] {}, 5}, data_, targets, after_each());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "too many");
    EXPECT_NE(error.details().why.find("have what was made"), std::string::npos);
  }
  EXPECT_GT(map(coordinator, Divided{failing(1)}, data_, targets, after_each()).value, 5u);
  EXPECT_EQ(names_in(made_), (std::vector<std::string>{"above.u8", "squares.bin"}));
}

}  // namespace
}  // namespace ooc::detail
