#include "run/stall_watch.hpp"

#include <gtest/gtest.h>

#include <ooc/error.hpp>

namespace ooc_run {
namespace {

ooc::Progress after(double seconds) {
  return {.bytes = 5'000'000'000,
          .total_bytes = 10'000'000'000,
          .seconds = 100,
          .in_flight = 24,
          .stalled_seconds = seconds};
}

TEST(StallWatch, WarnsOnceAfterHalfAMinute) {
  StallWatch watch(std::nullopt);
  EXPECT_EQ(watch.look(after(0)), "");
  EXPECT_EQ(watch.look(after(29)), "");
  EXPECT_EQ(watch.look(after(31)),
            "the disk has answered nothing for 31.0 s, after 50 % of the work: 24 requests to it "
            "in flight; still waiting (--io-timeout SECONDS ends that)");
  EXPECT_EQ(watch.look(after(32)), "");
  EXPECT_EQ(watch.look(after(1e6)), "");
}

TEST(StallWatch, EndsAfterTheTimeGiven) {
  StallWatch watch(1.5);
  EXPECT_EQ(watch.look(after(1.4)), "");
  try {
    watch.look(after(1.5));
    FAIL() << "goes on";
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::stalled);
    EXPECT_STREQ(error.what(), "the disk has answered nothing for 1.50 s, after 50 % of the work");
    EXPECT_EQ(error.details().why, "24 requests to it in flight");
  }
}

TEST(StallWatch, WarnsBeforeALongTimeIsOver) {
  StallWatch watch(60);
  EXPECT_NE(watch.look(after(30)), "");
  EXPECT_THROW(watch.look(after(60)), ooc::Error);
}

}  // namespace
}  // namespace ooc_run
