#include "progress.hpp"

#include <gtest/gtest.h>

#include <cstring>

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

TEST(Progress, TheTimeLeftDoesNotJumpWhereAPassBegins) {
  ProgressState state{.bytes = 0, .total_bytes = 10'000'000'000, .pass = 2, .passes = 2};
  state.rate_before = 1e9;
  EXPECT_EQ(describe_progress(state),
            "50 %, 0 bytes of 10.0 GB, pass 2 of 2, 1.00 GB/s, 10.0 s left");
  state.bytes = 500'000'000;
  state.seconds = 0.1;  // 5 GB/s
  EXPECT_EQ(describe_progress(state),
            "52 %, 500 MB of 10.0 GB, pass 2 of 2, 1.36 GB/s, 6.97 s left");
  state.bytes = 9'000'000'000;
  state.seconds = 1.8;
  EXPECT_EQ(describe_progress(state),
            "95 %, 9.00 GB of 10.0 GB, pass 2 of 2, 3.57 GB/s, 280 ms left");
}

TEST(Progress, BeginAndEnd) {
  ProgressState state = half;
  state.bytes = 0;
  EXPECT_EQ(describe_progress(state), "0 %, 0 bytes of 10.0 GB");
  state.bytes = state.total_bytes;
  EXPECT_EQ(describe_progress(state), "100 %, 10.0 GB of 10.0 GB, 5.00 GB/s, 0.00 ms left");
  EXPECT_EQ(describe_progress({}), "100 %, 0 bytes of 0 bytes");
}

TEST(Progress, ShowsAsMuchAsThereIsRoomFor) {
  EXPECT_EQ(draw_progress(half, {.columns = 80}),
            " 50 % ==============-------------- 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  EXPECT_EQ(draw_progress(half, {.columns = 55}),
            " 50 % 5.00 GB of 10.0 GB, 2.50 GB/s, 2.00 s left");
  EXPECT_EQ(draw_progress(half, {.columns = 50}),
            " 50 % =========--------- 2.50 GB/s, 2.00 s left");
}

TEST(Progress, LeavesRoomForWhatIsTypedToEndIt) {
  ProgressState state = half;
  for (state.passes = 1; state.passes < 3; ++state.passes) {
    for (std::size_t columns = 40; columns < 120; ++columns) {
      EXPECT_LE(draw_progress(state, {.columns = columns}).size() + std::strlen("^C "), columns);
    }
  }
}

}  // namespace
}  // namespace ooc_run
