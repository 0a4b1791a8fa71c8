#include "timeline/stage_load.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using Kind = ooc::TraceEvent::Kind;

constexpr StageLoad::Clock::time_point start{1h};

ooc::TraceEvent work(Kind kind, std::chrono::milliseconds begin, std::chrono::milliseconds end) {
  return {.kind = kind, .begin = start + begin, .end = start + end};
}

TEST(StageLoad, NobodyHasWorkedAtFirst) {
  EXPECT_TRUE(StageLoad().shares(start).empty());
}

TEST(StageLoad, WhatOverlapsIsCountedOnce) {
  StageLoad load;
  load.record(work(Kind::read, 0ms, 60ms));
  load.record(work(Kind::read, 20ms, 50ms));  // within the previous event
  load.record(work(Kind::read, 40ms, 80ms));
  load.record(work(Kind::kernel, 50ms, 60ms));
  const auto shares = load.shares(start + 100ms);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].kind, Kind::read);
  EXPECT_NEAR(shares[0].busy, 0.8, 1e-9);
  EXPECT_EQ(shares[1].kind, Kind::kernel);
  EXPECT_NEAR(shares[1].busy, 0.1, 1e-9);
}

TEST(StageLoad, ForgetsWhatIsLongAgo) {
  StageLoad load;
  load.record(work(Kind::read, 0ms, 1000ms));
  EXPECT_NEAR(load.shares(start + 1s).front().busy, 1, 1e-9);
  EXPECT_LT(load.shares(start + 10s).front().busy, 0.01);
}

TEST(StageLoad, ALongPieceOfWorkIsNoMoreThanAllTheTime) {
  StageLoad load;
  load.record(work(Kind::write, 0ms, 10ms));
  load.shares(start + 100ms);
  load.record(work(Kind::write, 10ms, 5000ms));  // recorded at its end
  EXPECT_EQ(load.shares(start + 200ms).front().busy, 1);
}

TEST(StageLoad, AnyThreadMayRecord) {
  StageLoad load;
  {
    std::vector<std::jthread> threads;
    for (const Kind kind : {Kind::read, Kind::h2d, Kind::kernel, Kind::d2h, Kind::write}) {
      threads.emplace_back([&load, kind] {
        for (int i = 0; i < 1000; ++i) load.record(work(kind, i * 2ms, i * 2ms + 1ms));
      });
    }
  }
  const auto shares = load.shares(start + 2s);
  ASSERT_EQ(shares.size(), 5u);
  for (const StageShare& share : shares) EXPECT_NEAR(share.busy, 0.5, 1e-9);
}

}  // namespace
}  // namespace ooc_run
