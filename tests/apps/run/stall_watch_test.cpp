#include "run/stall_watch.hpp"

#include <gtest/gtest.h>

#include <ooc/error.hpp>

namespace ooc_run {
namespace {

ooc::Progress after(double seconds, double since_begin = 100) {
  return {.bytes = 5'000'000'000,
          .total_bytes = 10'000'000'000,
          .seconds = since_begin,
          .in_flight = 24,
          .stalled_seconds = seconds};
}

TEST(StallWatch, WarnsOnceAfterHalfAMinute) {
  StallWatch watch(std::nullopt, false);
  EXPECT_EQ(watch.look(after(0), false), "");
  EXPECT_EQ(watch.look(after(29), false), "");
  EXPECT_EQ(watch.look(after(31), false),
            "the disk has answered nothing for 31.0 s, after 50 % of the work: 24 requests to it "
            "in flight; still waiting (--io-timeout SECONDS ends that)");
  EXPECT_EQ(watch.look(after(32), false), "");
  EXPECT_EQ(watch.look(after(1e6), false), "");
}

TEST(StallWatch, EndsAfterTheTimeGiven) {
  StallWatch watch(1.5, false);
  EXPECT_EQ(watch.look(after(1.4), false), "");
  try {
    watch.look(after(1.5), false);
    FAIL() << "goes on";
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::stalled);
    EXPECT_STREQ(error.what(), "the disk has answered nothing for 1.50 s, after 50 % of the work");
    EXPECT_EQ(error.details().why, "24 requests to it in flight");
  }
}

TEST(StallWatch, WarnsBeforeALongTimeIsOver) {
  StallWatch watch(60, false);
  EXPECT_NE(watch.look(after(30), false), "");
  EXPECT_THROW(watch.look(after(60), false), ooc::Error);
}

TEST(StallWatch, EndsSoonIfTheRunIsToStop) {
  StallWatch watch(std::nullopt, true);
  EXPECT_EQ(watch.look(after(20, 100), false), "");
  EXPECT_EQ(watch.look(after(20, 100), true), "");  // from now on
  EXPECT_EQ(watch.look(after(1, 119), true), "");
  EXPECT_EQ(watch.look(after(19.9, 137.9), true), "");
  try {
    watch.look(after(20, 138), true);
    FAIL() << "waits";
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::interrupted);
    EXPECT_STREQ(error.what(),
                 "interrupted; the server has answered nothing for 20.0 s, after 50 % of the work");
  }
}

}  // namespace
}  // namespace ooc_run
