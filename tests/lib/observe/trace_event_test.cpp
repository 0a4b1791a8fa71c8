// Tests that an observer gets each trace event of a pass once, with consistent times.

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/stats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "support/devices.hpp"
#include "support/faulty_engine.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using Kind = TraceEvent::Kind;
using test::chunk_bytes;
using test::Count;
using WidenToU2 = test::Zero<std::uint8_t, std::uint16_t>;

class TraceEventTest : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr std::size_t chunks_ = 40;
  static constexpr std::uint64_t bytes_ = chunks_ * chunk_bytes - 5;
  static constexpr std::size_t streams_ = 3;

  static std::uint64_t bytes_of(std::size_t chunk) {
    return std::min<std::uint64_t>(chunk_bytes, bytes_ - chunk * chunk_bytes);
  }

  /// Returns options with the same number of streams on both devices.
  static Options options() { return {.chunk_bytes = chunk_bytes, .streams = streams_}; }

  /// Returns options with an observer that records the events, and throws at those of kind
  /// `failing_`.
  PassOptions observed() {
    return {.observe = [this](const TraceEvent& done) {
      const std::scoped_lock lock(mutex_);
      if (done.kind == failing_) throw std::runtime_error("the observer's own error");
      seen_.push_back(done);
      threads_[{done.kind, done.worker}].insert(std::this_thread::get_id());
    }};
  }

  /// Returns a device that has started, so that a pass does not read ahead before its start.
  std::unique_ptr<Device> device() const {
    auto device = make_device(GetParam());
    device->bind_to_thread();
    return device;
  }
  bool copies() const { return GetParam() == DeviceKind::cuda; }
  Source source() const { return open(path_); }
  Target target() const {
    return {.path = dir_.path() / "out.u16", .type = {ElementType::u2}, .replace = true};
  }

  std::vector<TraceEvent> of(Kind kind) const {
    std::vector<TraceEvent> some;
    std::ranges::copy_if(seen_, std::back_inserter(some),
                         [kind](const TraceEvent& one) { return one.kind == kind; });
    std::ranges::sort(some, {}, &TraceEvent::chunk);
    return some;
  }

  /// Expects one event of this kind for each chunk, with `factor` times the chunk's bytes.
  void expect_every_chunk(Kind kind, std::uint64_t factor = 1) const {
    const std::vector<TraceEvent> some = of(kind);
    ASSERT_EQ(some.size(), chunks_);
    for (std::size_t k = 0; k < chunks_; ++k) {
      EXPECT_EQ(some[k].chunk, k);
      EXPECT_EQ(some[k].bytes, bytes_of(k) * factor);
    }
  }

  void expect_workers(Kind kind, std::size_t workers) const {
    for (const TraceEvent& one : of(kind)) EXPECT_LT(one.worker, workers);
  }

  /// Expects that no event ends before it begins, that events of one kind and worker do not
  /// overlap, that the stages of a chunk follow each other, and that all begin after `since`.
  void expect_times_that_can_be(TraceEvent::Clock::time_point since) const {
    // Device times are mapped to the host's clock to within microseconds, or worse on a busy
    // machine.
    constexpr std::chrono::milliseconds slack{20};
    std::map<std::tuple<Kind, std::size_t>, TraceEvent::Clock::time_point> ends_of_worker;
    std::map<std::size_t, TraceEvent::Clock::time_point> ends_of_chunk;
    std::vector<TraceEvent> sorted = seen_;
    std::ranges::sort(sorted, {}, &TraceEvent::begin);
    for (const TraceEvent& one : sorted) {
      EXPECT_LE(one.begin, one.end);
      auto& end = ends_of_worker.try_emplace({one.kind, one.worker}, since).first->second;
      EXPECT_GE(one.begin + slack, end) << "slices overlap";
      end = one.end;
    }
    std::ranges::sort(sorted, {}, &TraceEvent::kind);
    for (const TraceEvent& one : sorted) {
      auto& end = ends_of_chunk.try_emplace(one.chunk, since).first->second;
      EXPECT_GE(one.begin + slack, end) << "before the stage before";
      end = one.end;
    }
  }

  test::TempDir dir_;
  std::filesystem::path path_ = dir_.write("in.u8", test::random_bytes(bytes_, 1));
  std::mutex mutex_;
  std::vector<TraceEvent> seen_;
  std::map<std::pair<Kind, std::size_t>, std::set<std::thread::id>> threads_;
  std::optional<Kind> failing_;
};

INSTANTIATE_TEST_SUITE_P(Devices, TraceEventTest, test::all_devices, test::device_name);

TEST_P(TraceEventTest, AFoldReadsCopiesAndComputesEveryChunkOnce) {
  OOC_SKIP_WITHOUT(GetParam());
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      seen_.clear();
      Options wanted = options();
      wanted.engine = engine;
      wanted.direct = direct;
      Coordinator coordinator(device(), wanted);
      const auto since = TraceEvent::Clock::now();
      const Stats stats = fold(coordinator, Count<>{}, source(), observed()).stats;
      expect_every_chunk(Kind::read);
      expect_every_chunk(Kind::kernel);
      if (copies()) expect_every_chunk(Kind::h2d);
      EXPECT_EQ(seen_.size(), chunks_ * (copies() ? 3 : 2));
      expect_workers(Kind::read, stats.layout.slots);
      expect_workers(Kind::kernel, stats.layout.streams);
      expect_times_that_can_be(since);
    }
  }
}

TEST_P(TraceEventTest, AMapAlsoBringsBackAndWritesEveryChunkOnce) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), options());
  const auto since = TraceEvent::Clock::now();
  const Stats stats = map(coordinator, WidenToU2{}, source(), target(), observed()).stats;
  expect_every_chunk(Kind::read);
  expect_every_chunk(Kind::kernel);
  expect_every_chunk(Kind::write, 2);
  if (copies()) expect_every_chunk(Kind::h2d);
  if (copies()) expect_every_chunk(Kind::d2h, 2);
  EXPECT_EQ(seen_.size(), chunks_ * (copies() ? 5 : 3));
  expect_workers(Kind::write, stats.layout.slots);
  expect_times_that_can_be(since);
}

TEST_P(TraceEventTest, EachLaneReportsFromItsOwnThread) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), options());
  std::atomic<std::size_t> begun{0};
  const Count<> on_all_lanes{[&](std::uint64_t) {
    ++begun;
    while (begun < streams_) std::this_thread::yield();  // each lane has a chunk then
  }};
  fold(coordinator, on_all_lanes, source(), observed());
  std::set<std::thread::id> lanes;
  for (std::size_t lane = 0; lane < streams_; ++lane) {
    const auto& threads = threads_[{Kind::kernel, lane}];
    EXPECT_EQ(threads.size(), 1u);
    lanes.insert(threads.begin(), threads.end());
  }
  EXPECT_EQ(lanes.size(), streams_);
  EXPECT_FALSE(lanes.contains(std::this_thread::get_id()));
}

TEST_P(TraceEventTest, SeveralPassesAreOnOneTimeline) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), options());
  fold(coordinator, Count<>{}, source(), observed());
  seen_.clear();
  const auto between = TraceEvent::Clock::now();
  fold(coordinator, Count<>{}, source(), observed());
  expect_every_chunk(Kind::kernel);
  expect_times_that_can_be(between);
}

TEST_P(TraceEventTest, WhatTheObserverThrowsEndsThePass) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), options());
  std::vector<Kind> kinds{Kind::read, Kind::kernel, Kind::write};
  if (copies()) kinds.insert(kinds.end(), {Kind::h2d, Kind::d2h});
  for (const Kind kind : kinds) {
    failing_ = kind;
    try {
      map(coordinator, WidenToU2{}, source(), target(), observed()).stats;
      FAIL() << "no error of an observer of kind " << static_cast<int>(kind);
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "the observer's own error");
    }
    EXPECT_FALSE(std::filesystem::exists(target().path));
    failing_.reset();
    seen_.clear();
    EXPECT_EQ(fold(coordinator, Count<>{}, source(), observed()).value, bytes_);
    expect_every_chunk(Kind::kernel);
  }
}

TEST_P(TraceEventTest, AFailingPassReportsWhatWasDone) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), options());
  constexpr std::uint64_t failing = 20;
  const Count<> count{test::at(failing * chunk_bytes,
                               [] { throw std::runtime_error("the operator's own error"); })};
  EXPECT_THROW(fold(coordinator, count, source(), observed()), std::runtime_error);
  const std::vector<TraceEvent> kernels = of(Kind::kernel);
  for (const TraceEvent& one : kernels) {
    EXPECT_EQ(one.bytes, bytes_of(one.chunk));
    EXPECT_NE(one.chunk, failing);
  }
  const auto repeated = std::ranges::adjacent_find(kernels, {}, &TraceEvent::chunk);
  EXPECT_EQ(repeated, kernels.end());
  EXPECT_EQ(std::ranges::count(of(Kind::read), failing, &TraceEvent::chunk), 1);
}

TEST_P(TraceEventTest, OfADiskThatFailsOnlyWholeChunksAreReported) {
  OOC_SKIP_WITHOUT(GetParam());
  const std::size_t good = 10;
  Options wanted = options();
  wanted.block_bytes = chunk_bytes;
  wanted.make_engine = [&](const EngineOptions& engine) -> std::unique_ptr<Engine> {
    return std::make_unique<test::FaultyEngine>(
        make_engine(engine), good, [] { throw Error(ErrorKind::input, "the disk's own error"); });
  };
  Coordinator coordinator(device(), wanted);
  EXPECT_THROW(fold(coordinator, Count<>{}, source(), observed()), Error);
  EXPECT_EQ(of(Kind::read).size(), good);
}

TEST_P(TraceEventTest, APassThatIsStoppedReportsWhatItCovers) {
  OOC_SKIP_WITHOUT(GetParam());
  std::stop_source stop;
  PassOptions wanted = observed();
  wanted.stop = stop.get_token();
  wanted.keep_partial = true;
  Coordinator coordinator(device(), options());
  const Count<> count{test::at(5 * chunk_bytes, [&] { stop.request_stop(); })};
  const Stats stats = fold(coordinator, count, source(), wanted).stats;
  std::uint64_t bytes = 0;
  for (const TraceEvent& one : of(Kind::kernel)) bytes += one.bytes;
  EXPECT_EQ(bytes, stats.outcome.bytes);
  EXPECT_GE(bytes, 6 * chunk_bytes);
}

// The reporter compares the clocks again if more than a second has passed since the last time.
TEST_P(TraceEventTest, TimesOfEventsAreThoseOfTheHost) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto used = device();
  used->bind_to_thread();
  std::vector<TraceEvent> seen;
  const Observe observe = [&seen](const TraceEvent& done) { seen.push_back(done); };
  EventReporter reporter(*used, observe);
  const auto stream = used->make_stream();
  const auto begun = used->make_event(), ended = used->make_event();
  for (int i = 0; i < 2; ++i) {
    const auto before = TraceEvent::Clock::now();
    stream->record(*begun);
    stream->synchronize();
    // In the second round, both events are recorded before the new comparison.
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 0 ? 1 : 1100));
    stream->record(*ended);
    ended->synchronize();
    reporter.report({.kind = Kind::kernel}, *begun, *ended);
    constexpr std::chrono::milliseconds slack{20};
    EXPECT_GE(seen.back().begin + slack, before);
    EXPECT_GE(seen.back().end, seen.back().begin + std::chrono::microseconds(900));
    EXPECT_LE(seen.back().end, TraceEvent::Clock::now() + slack);
  }
}

}  // namespace
}  // namespace ooc::detail
