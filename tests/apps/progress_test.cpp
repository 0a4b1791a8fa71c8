#include "progress.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

constexpr ProgressState half{.bytes = 5'000'000'000, .total_bytes = 10'000'000'000, .seconds = 2};

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
  EXPECT_EQ(describe_progress(state), "0 %, 0 bytes of 10.0 GB");
  state.bytes = state.total_bytes;
  EXPECT_EQ(describe_progress(state), "100 %, 10.0 GB of 10.0 GB, 5.00 GB/s, 0.00 ms left");
  EXPECT_EQ(describe_progress({}), "100 %, 0 bytes of 0 bytes");
}

TEST(Progress, BarIsAsLongAsThereIsRoom) {
  EXPECT_EQ(draw_progress(half, {.columns = 80}),
            " 50 % ===============--------------- 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  EXPECT_EQ(draw_progress(half, {.columns = 50}),
            " 50 % 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  for (std::size_t columns = 60; columns < 120; ++columns) {
    EXPECT_LT(draw_progress(half, {.columns = columns}).size(), columns);
  }
}

}  // namespace
}  // namespace ooc_run
