#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "lib/pass/coordinator_fixture.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

// Tests of passes that end early, because they are stopped or because of an error.

namespace ooc::detail {
namespace {

using test::Collect;
using test::CoordinatorTest;
using test::Visit;

TEST_F(CoordinatorTest, RethrowsAnOperatorsErrorAndCanGoOn) {
  const auto path = make_file("data.bin", 40 * 65536);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536, .streams = 3});
  for (const std::uint64_t chunk : {0u, 1u, 20u, 39u}) {
    Visit failing(
        test::at(chunk * 65536, [] { throw std::runtime_error("the operator's own error"); }));
    EXPECT_THROW(run_pass(coordinator, open_bytes(path), 1, failing), std::runtime_error);
    Collect collect(contents_.size());
    run_pass(coordinator, open_bytes(path), 1, collect);
    expect_all(collect);
  }
}

/// Requests a stop at each chunk from byte `after` on, and is slow in some lanes.
class StopAfter final : public Operation {
 public:
  StopAfter(std::stop_source& source, std::uint64_t after) : stop_(source), after_(after) {}
  void begin(std::size_t, Stream&) override {}
  void process(std::size_t lane, Stream&, const StepRecords& in, const StepResults&) override {
    if (lane % 2 != 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    std::uint64_t end = end_;
    while (end < in.first + in.count && !end_.compare_exchange_weak(end, in.first + in.count)) {
    }
    seen_ += in.count;
    if (in.first >= after_) stop_.request_stop();
  }
  void end(std::size_t, Stream&) override {}

  std::atomic<std::uint64_t> end_{0}, seen_{0};

 private:
  std::stop_source& stop_;
  std::uint64_t after_;
};

// Covers lanes that load their own steps (the default here) and a separate reader; with enough
// slots, and with fewer slots than the streams asked for.
TEST_F(CoordinatorTest, StopsEarlyWithAPrefix) {
  struct Limits {
    std::size_t streams, memory_bytes;
  };
  const auto path = make_file("data.bin", 200 * 65536);
  const test::HeldInPageCache held(path);
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    for (const Limits limits : {Limits{1, 0}, Limits{3, 0}, Limits{8, 0}, Limits{8, 256 * KiB}}) {
      for (const std::uint64_t after : {0u, 5u, 40u}) {
        std::stop_source stop;
        Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 65536,
                                                               .streams = limits.streams,
                                                               .memory_bytes = limits.memory_bytes,
                                                               .engine = engine});
        StopAfter operation(stop, after * 65536);
        const Stats stats = run_pass(coordinator, open_bytes(path), 1, operation,
                                     {.stop = stop.get_token(), .keep_partial = true});
        EXPECT_TRUE(stats.outcome.partial);
        EXPECT_EQ(stats.layout.slots < limits.streams, limits.memory_bytes != 0);
        EXPECT_LT(stats.outcome.bytes, contents_.size());
        EXPECT_EQ(stats.outcome.bytes, operation.seen_);
        EXPECT_EQ(operation.end_, operation.seen_) << "not a prefix";
        EXPECT_GT(operation.end_, after * 65536);
      }
    }
  }
}

// Another thread requests the stop at a random time. The chunks that were computed must be a
// prefix, without a gap before the last one.
TEST_F(CoordinatorTest, StoppedAtAnyTimeItHasDoneAPrefix) {
  const auto path = make_file("data.bin", 60 * 65536);
  const test::HeldInPageCache held(path);
  const Source source = open_bytes(path);
  std::minstd_rand random(1);
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = 65536, .streams = 7, .engine = engine});
    for (int pass = 0; pass < 200; ++pass) {
      std::stop_source stop, never;
      StopAfter operation(never, SIZE_MAX);
      const std::chrono::microseconds moment(random() % 4000);
      const std::jthread stopping([&] {
        std::this_thread::sleep_for(moment);
        stop.request_stop();
      });
      const Stats stats = run_pass(coordinator, source, 1, operation,
                                   {.stop = stop.get_token(), .keep_partial = true});
      ASSERT_EQ(operation.end_, operation.seen_) << "not a prefix, pass " << pass;
      ASSERT_EQ(stats.outcome.bytes, operation.seen_);
    }
  }
}

/// Reads nothing and fails after `good` requests.
class FailingEngine final : public Engine {
 public:
  explicit FailingEngine(std::size_t good) : good_(good) {}
  void start(Request& request) override { request_ = &request; }
  Request& wait() override {
    Request& request = *std::exchange(request_, nullptr);
    if (good_-- == 0) throw Error(ErrorKind::input, "the disk's own error");
    return request;
  }
  std::size_t in_flight() const noexcept override { return request_ != nullptr; }
  std::size_t depth() const noexcept override { return 1; }
  std::string_view name() const noexcept override { return "failing"; }

 private:
  std::size_t good_;
  Request* request_ = nullptr;
};

TEST_F(CoordinatorTest, RethrowsTheEnginesErrorWhereverItComes) {
  const auto path = make_file("data.bin", 30 * 65536);
  for (std::size_t good = 0; good < 30; ++good) {
    Coordinator coordinator(
        make_device(DeviceKind::cpu),
        {.chunk_bytes = 65536, .streams = 2, .make_engine = [&](const EngineOptions&) {
           return std::make_unique<FailingEngine>(good);
         }});
    Collect collect(contents_.size());
    try {
      run_pass(coordinator, open_bytes(path), 1, collect);
      FAIL() << "no error after " << good << " reads";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the disk's own error");
    }
  }
}

TEST_F(CoordinatorTest, TakesAnEngineOfLessDepthThanAskedFor) {
  const auto path = make_file("data.bin", 1);
  std::filesystem::resize_file(path, GiB);
  const auto one_at_a_time = [](auto&) { return std::make_unique<FailingEngine>(SIZE_MAX); };
  Coordinator coordinator(make_device(DeviceKind::cpu), {.make_engine = one_at_a_time});
  Visit operation;
  EXPECT_EQ(run_pass(coordinator, open_bytes(path), 1, operation).outcome.bytes, GiB);
}

}  // namespace
}  // namespace ooc::detail
