#include "run/progress.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ooc_run {
namespace {

const ProgressState half{.bytes = 5'000'000'000, .total_bytes = 10'000'000'000, .rate = 2.5e9};

TEST(Progress, OnePass) {
  EXPECT_EQ(describe_progress(half), "50 %, 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
}

TEST(Progress, TheFirstOfTwoPassesEndsAtHalf) {
  ProgressState state = half;
  state.passes = 2;
  EXPECT_EQ(describe_progress(state),
            "25 %, 5.00 GB of 10.0 GB, pass 1 of 2, 2.50 GB/s, 6.00 s left");
  state.pass = 2;
  EXPECT_EQ(describe_progress(state),
            "75 %, 5.00 GB of 10.0 GB, pass 2 of 2, 2.50 GB/s, 2.00 s left");
}

TEST(Progress, BeginAndEnd) {
  ProgressState state = half;
  state.bytes = 0;
  state.rate = 0;
  EXPECT_EQ(describe_progress(state), "0 %, 0 bytes of 10.0 GB");
  state.bytes = state.total_bytes;
  state.rate = 5e9;
  EXPECT_EQ(describe_progress(state), "100 %, 10.0 GB of 10.0 GB, 5.00 GB/s, 0.00 ms left");
}

TEST(Progress, OfWhatHasNoKnownSizeIsARate) {
  EXPECT_EQ(describe_progress({}), "0 bytes");
  const ProgressState input{.bytes = 5'000'000'000, .total_bytes = 0, .rate = 2.5e9};
  EXPECT_EQ(describe_progress(input), "5.00 GB, 2.50 GB/s");
  EXPECT_EQ(draw_progress(input, {.columns = 80}), "5.00 GB, 2.50 GB/s");
}

TEST(Progress, ShowsAsMuchAsThereIsRoomFor) {
  EXPECT_EQ(draw_progress(half, {.columns = 80}),
            " 50 % ==============-------------- 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  EXPECT_EQ(draw_progress(half, {.columns = 55}),
            " 50 % 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  EXPECT_EQ(draw_progress(half, {.columns = 50}),
            " 50 % =========--------- 2.50 GB/s, 2.00 s left");
}

TEST(Progress, ShowsHowBusyTheStagesAre) {
  ProgressState state = half;
  state.stages = {{ooc::TraceEvent::Kind::read, 1}, {ooc::TraceEvent::Kind::kernel, 0.2}};
  EXPECT_EQ(draw_progress(state, {.columns = 85}),
            " 50 % ====----- 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left, read 100 % kernel 20 %");
  EXPECT_EQ(draw_progress(state, {.columns = 80, .unicode = true}),
            " 50 % ━━━━━────── 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left, read █ kernel ▂");
  EXPECT_EQ(draw_progress(state, {.columns = 70, .unicode = true}),
            " 50 % ━━━━━━━━━───────── 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
}

TEST(Progress, LeavesRoomForWhatIsTypedToEndIt) {
  ProgressState state = half;
  state.stages = {{ooc::TraceEvent::Kind::read, 1}, {ooc::TraceEvent::Kind::kernel, 0.2}};
  for (state.passes = 1; state.passes < 3; ++state.passes) {
    for (std::size_t columns = 40; columns < 120; ++columns) {
      EXPECT_LE(draw_progress(state, {.columns = columns}).size() + std::strlen("^C "), columns);
    }
  }
}

}  // namespace
}  // namespace ooc_run
