#include "run/stall_watch.hpp"

#include <gtest/gtest.h>

#include <ooc/error.hpp>

#include <string>

namespace ooc_run {
namespace {

/// Looks at a pass that is half done and has waited for 24 requests.
std::string look(StallWatch& watch, double seconds, double since_begin = 100,
                 bool is_to_stop = false, ooc::detail::IoPeer peer = ooc::detail::IoPeer::disk) {
  const ooc::Progress progress{
      .bytes = 5'000'000'000, .total_bytes = 10'000'000'000, .seconds = since_begin};
  return watch.look({.seconds = seconds, .peer = peer, .in_flight = 24}, &progress, is_to_stop);
}

TEST(StallWatch, WarnsOnceAfterHalfAMinute) {
  StallWatch watch(std::nullopt);
  EXPECT_EQ(look(watch, 0), "");
  EXPECT_EQ(look(watch, 29), "");
  EXPECT_EQ(look(watch, 31),
            "the disk has answered nothing for 31.0 s, after 50 % of the work: 24 requests to it "
            "in flight; still waiting (--io-timeout SECONDS ends that)");
  EXPECT_EQ(look(watch, 32), "");
  EXPECT_EQ(look(watch, 1e6), "");
}

TEST(StallWatch, EndsAfterTheTimeGiven) {
  StallWatch watch(1.5);
  EXPECT_EQ(look(watch, 1.4), "");
  try {
    look(watch, 1.5);
    FAIL() << "goes on";
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::stalled);
    EXPECT_STREQ(error.what(), "the disk has answered nothing for 1.50 s, after 50 % of the work");
    EXPECT_EQ(error.details().why, "24 requests to it in flight");
  }
}

TEST(StallWatch, WarnsBeforeALongTimeIsOver) {
  StallWatch watch(60);
  EXPECT_NE(look(watch, 30), "");
  EXPECT_THROW(look(watch, 60), ooc::Error);
}

TEST(StallWatch, EndsSoonIfTheRunIsToStop) {
  StallWatch watch(std::nullopt);
  EXPECT_EQ(look(watch, 20, 100, false, ooc::detail::IoPeer::server), "");
  EXPECT_EQ(look(watch, 20, 100, true, ooc::detail::IoPeer::server), "");  // from now on
  EXPECT_EQ(look(watch, 1, 119, true, ooc::detail::IoPeer::server), "");
  EXPECT_EQ(look(watch, 19.9, 137.9, true, ooc::detail::IoPeer::server), "");
  try {
    look(watch, 20, 138, true, ooc::detail::IoPeer::server);
    FAIL() << "waits";
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::interrupted);
    EXPECT_STREQ(error.what(),
                 "interrupted; the server has answered nothing for 20.0 s, after 50 % of the work");
  }
}

TEST(StallWatch, KnowsWhoIsSilentBeforeTheFirstPass) {
  StallWatch watch(3);
  const auto said = [&](const ooc::detail::IoMeter::Stall& stall) -> std::string {
    try {
      watch.look(stall, nullptr, false);
    } catch (const ooc::Error& error) {
      return error.what() + std::string("; ") + error.details().hint;
    }
    return {};
  };
  EXPECT_EQ(said({.seconds = 2.9}), "");
  EXPECT_EQ(said({.seconds = 3, .peer = ooc::detail::IoPeer::server, .in_flight = 1, .bytes = 7}),
            "the server has sent less than 1 KiB for 3.00 s; see the server and the network, or "
            "wait for longer (--io-timeout); nothing was written");
  EXPECT_EQ(said({.seconds = 3, .peer = ooc::detail::IoPeer::writer}),
            "the writer of the pipe has sent nothing for 3.00 s; see the program that writes the "
            "data, or wait for longer (--io-timeout); nothing was written");
}

}  // namespace
}  // namespace ooc_run
