#include "pass/appender.hpp"

#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using Counts = std::array<std::uint64_t, 2>;

class AppenderTest : public testing::Test {
 protected:
  static constexpr std::uint64_t records_ = 95;

  Target target(const char* name) const {
    return {.path = dir_.path() / name, .type = {ElementType::u1}};
  }

  std::vector<Extent> extents(std::size_t chunk) const {
    std::array<Extent, 2> storage{};
    const auto found = appender_.extents(chunk, storage);
    return {found.begin(), found.end()};
  }

  test::TempDir dir_;
  TargetFile first_{target("first.npy"), records_, {}, Purpose::append};
  TargetFile second_{target("second.u1"), 3 * records_, {}, Purpose::append};
  std::array<Output, 2> outputs_{Output{first_, 1}, Output{second_, 3}};
  SequentialPlan plan_{{}, {.chunk_records = 10, .record_bytes = {}, .records = records_}};
  Appender appender_{outputs_, plan_, 4};
};

TEST_F(AppenderTest, PutsEachStepBehindTheOneBefore) {
  EXPECT_EQ(appender_.size(), 10u);
  EXPECT_EQ(appender_.max_extents(), 2u);
  const std::uint64_t header = first_.data_offset();
  appender_.append(0, Counts{7, 10}, 10);
  appender_.append(1, Counts{0, 4}, 10);
  appender_.append(2, Counts{0, 0}, 10);
  appender_.append(3, Counts{1, 0}, 10);
  EXPECT_EQ(extents(0), (std::vector<Extent>{{0, header, 7, false, 0}, {1, 0, 30, false, 1}}));
  EXPECT_EQ(extents(1), (std::vector<Extent>{{1, 30, 12, false, 1}}));
  EXPECT_EQ(extents(2), std::vector<Extent>{});
  EXPECT_EQ(extents(3), (std::vector<Extent>{{0, header + 7, 1, false, 0}}));
  EXPECT_EQ(first_.appended_bytes(), 8u);
  EXPECT_EQ(second_.appended_bytes(), 42u);
}

TEST_F(AppenderTest, WaitsForTheStepsBefore) {
  std::thread later([&] { appender_.append(1, Counts{2, 2}, 10); });
  appender_.append(0, Counts{5, 5}, 10);
  later.join();
  EXPECT_EQ(extents(1).front().offset, first_.data_offset() + 5);
  EXPECT_EQ(extents(1).back().offset, 15u);
}

TEST_F(AppenderTest, WakesThoseThatWaitForAFailedStep) {
  bool was_aborted = false;
  std::thread later([&] {
    try {
      appender_.append(1, Counts{2, 2}, 10);
    } catch (const Aborted&) {
      was_aborted = true;
    }
  });
  appender_.turns().abort();
  later.join();
  EXPECT_TRUE(was_aborted);
}

TEST_F(AppenderTest, RefusesMoreThanAStepHas) {
  EXPECT_THROW(appender_.append(0, Counts{10, 11}, 10), Error);
  EXPECT_THROW(appender_.append(9, Counts{6, 0}, 5), Error);  // the last step has five records
}

}  // namespace
}  // namespace ooc::detail
