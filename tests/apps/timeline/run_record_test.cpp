#include "timeline/run_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ooc_run {
namespace {

using namespace std::chrono_literals;
using ooc::TraceEvent;
using Part = RunRecord::Part;
using Time = RunRecord::Time;
using Window = RunRecord::Window;

constexpr std::uint64_t bytes_each = 1000;

/// Records consecutive reads, each of `length`, until `duration` is over.
void record_reads(RunRecord& record, Time duration, Time length) {
  const auto start = TraceEvent::Clock::now();
  for (Time begin{}; begin < duration; begin += length) {
    record.record({.kind = TraceEvent::Kind::read,
                   .chunk = static_cast<std::size_t>(begin / length),
                   .bytes = bytes_each,
                   .begin = start + begin,
                   .end = start + std::min(begin + length, duration)});
  }
}

/// Expects that a window has all reads of its time, and no others.
void expect_whole(const Window& window, Time length) {
  const auto first = static_cast<std::size_t>(window.begin / length);
  const auto last = static_cast<std::size_t>((window.end - Time{1}) / length);
  ASSERT_EQ(window.events.size(), last - first + 1);
  std::vector<std::size_t> chunks;
  for (const TraceEvent& event : window.events) chunks.push_back(event.chunk);
  std::ranges::sort(chunks);
  for (std::size_t i = 0; i < chunks.size(); ++i) EXPECT_EQ(chunks[i], first + i);
}

void expect_in_order(const std::vector<Window>& windows) {
  for (std::size_t i = 1; i < windows.size(); ++i) {
    EXPECT_LE(windows[i - 1].end, windows[i].begin);
    EXPECT_LT(windows[i].begin, windows[i].end);
  }
}

TEST(RunRecord, OfAShortRunKeepsAll) {
  RunRecord record;
  record_reads(record, 150ms, 7ms);
  const auto windows = record.windows();
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].part, Part::first);
  EXPECT_EQ(windows[0].end, 150ms);
  EXPECT_EQ(windows[0].events.size(), 22u);
  EXPECT_EQ(record.duration(), 150ms);
}

TEST(RunRecord, WindowsOfAMiddlingRunTouch) {
  RunRecord record;
  record_reads(record, 550ms, 5ms);
  const auto windows = record.windows();
  ASSERT_EQ(windows.size(), 3u);
  expect_in_order(windows);
  EXPECT_EQ(windows[0].end, 200ms);
  EXPECT_EQ(windows[1].begin, 200ms);
  EXPECT_EQ(windows[1].end, 350ms);
  EXPECT_EQ(windows[2].begin, 350ms);
  for (const Window& window : windows) expect_whole(window, 5ms);
}

TEST(RunRecord, OfALongRunKeepsTheFirstTheMiddleAndTheLast) {
  for (const Time duration : {Time(4s), Time(61s), Time(1000s), Time(10h + 7min)}) {
    const Time length = std::max<Time>(5ms, duration / 100'000);
    RunRecord record;
    record_reads(record, duration, length);
    const auto windows = record.windows();
    ASSERT_EQ(windows.size(), 3u);
    expect_in_order(windows);
    for (const Window& window : windows) expect_whole(window, length);
    EXPECT_EQ(windows[0].part, Part::first);
    EXPECT_EQ(windows[0].begin, Time{});
    EXPECT_EQ(windows[0].end, 200ms);
    EXPECT_EQ(windows[2].part, Part::last);
    EXPECT_EQ(windows[2].end, duration);
    EXPECT_EQ(windows[2].begin, duration - 200ms);
    EXPECT_EQ(windows[1].part, Part::middle);
    EXPECT_EQ(windows[1].end - windows[1].begin, 200ms);
    const Time middle = (windows[1].begin + windows[1].end) / 2;
    EXPECT_LE(std::chrono::abs(middle - duration / 2), duration / 16) << duration.count();
  }
}

TEST(RunRecord, AReadOfManySecondsIsInAllWindows) {
  RunRecord record;
  record_reads(record, 30s, 30s);
  const auto windows = record.windows();
  ASSERT_EQ(windows.size(), 3u);
  for (const Window& window : windows) EXPECT_EQ(window.events.size(), 1u);
}

TEST(RunRecord, WindowsAreShorterWhereMuchIsDone) {
  RunRecord record(10);
  record_reads(record, 10s, 1ms);
  const auto windows = record.windows();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].end, 10ms);
  EXPECT_EQ(windows[1].end - windows[1].begin, 9ms);  // it also has the event that began before it
  EXPECT_EQ(windows[2].end - windows[2].begin, 9ms);  // from the end of the first of ten
  for (const Window& window : windows) expect_whole(window, 1ms);
}

TEST(RunRecord, RatesCoverTheWholeRun) {
  RunRecord record;
  record_reads(record, 100s, 5ms);
  const auto& bytes = record.read().bytes();
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}), 20'000 * bytes_each);
  EXPECT_LE(bytes.size(), 512u);
  EXPECT_TRUE(record.written().bytes().empty());
}

TEST(RunRecord, WhatComesAfterTheRunIsNoneOfIt) {
  RunRecord record;
  record_reads(record, 10ms, 1ms);
  record.finish();
  record_reads(record, 10s, 1ms);
  EXPECT_LT(record.duration(), 1s);
  EXPECT_EQ(record.windows().front().events.size(), 10u);
}

TEST(RunRecord, OfNothingHasNoWindows) {
  const RunRecord record;
  EXPECT_TRUE(record.windows().empty());
  EXPECT_EQ(record.duration(), Time{});
}

}  // namespace
}  // namespace ooc_run
