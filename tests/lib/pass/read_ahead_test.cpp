#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/device.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sizing/dry_run_pass.hpp"
#include "sizing/layout.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_device.hpp"

namespace ooc::detail {
namespace {

using namespace std::chrono_literals;

class DirectReadAhead : public testing::Test {
 protected:
  static constexpr std::size_t chunks_ = 100;

  void SetUp() override {
    if (File::open(path_).direct() < 0) GTEST_SKIP() << "no direct reads here";
    if (available_host_bytes() < 256 * MiB) GTEST_SKIP() << "no memory to spare here";
    test::evict(path_);
  }
  Source source() const { return open_bytes(path_); }
  Layout layout(const Options& options) const {
    const Workers workers{
        .lanes = 2, .reading_lanes = 2, .readers = 2, .writers = 2, .decoders = 2};
    const Source measured = source();
    const PassInput input{measured, 1};
    const Facts facts = measure_facts(facts_of(DeviceKind::cuda), true, {&input, 1}, {});
    return choose_layout(facts, {.options = options, .workers = workers});
  }

  test::TempDir directory_;
  std::vector<std::byte> bytes_ = test::random_bytes(chunks_ * test::chunk_bytes - 5, 1);
  std::filesystem::path path_ = directory_.write("data", bytes_);
};

TEST_F(DirectReadAhead, TakesASlotForEachChunkWithinReason) {
  EXPECT_EQ(layout({.chunk_bytes = test::chunk_bytes, .direct = DirectIo::yes}).slots_ahead,
            chunks_);
  EXPECT_EQ(layout({.chunk_bytes = test::chunk_bytes, .direct = DirectIo::no}).slots_ahead, 0u);
  constexpr std::size_t limit = 4 * MiB;
  const Layout limited =
      layout({.chunk_bytes = test::chunk_bytes, .memory_bytes = limit, .direct = DirectIo::yes});
  EXPECT_GT(limited.slots_ahead, limited.most_slots);
  EXPECT_LE(limited.slots_ahead * limited.slot_bytes, limit / 2);
  EXPECT_EQ(layout({.chunk_bytes = test::chunk_bytes,
                    .block_bytes = test::chunk_bytes,
                    .queue_depth = 2 * chunks_,
                    .direct = DirectIo::yes})
                .slots_ahead,
            0u);  // the pool is as large without reading ahead
}

TEST_F(DirectReadAhead, GoesOnUntilTheDeviceHasStarted) {
  std::atomic<std::size_t> read{0}, read_before_start{0};
  std::set<std::size_t> workers;  // only the reader's thread adds to it
  const auto start = [&](test::DeviceCall call) {
    if (call != test::DeviceCall::make || read_before_start != 0) return;
    for (int i = 0; i < 1000 && read < chunks_; ++i) std::this_thread::sleep_for(10ms);
    read_before_start = read.load();
  };
  auto device = std::make_unique<test::WrappedDevice>(make_device(DeviceKind::cpu), start);
  test::WrappedDevice& stopped = *device;
  stopped.stop();
  Coordinator coordinator(
      std::move(device), {.chunk_bytes = test::chunk_bytes, .streams = 2, .direct = DirectIo::yes});
  const PassOptions observed{.observe = [&](const TraceEvent& event) {
    if (event.kind != TraceEvent::Kind::read) return;
    workers.insert(event.worker);
    ++read;
  }};
  test::Compare compare(bytes_);
  const Stats ahead = run_pass(coordinator, source(), 1, compare, observed);
  EXPECT_EQ(compare.bytes, bytes_.size());
  EXPECT_EQ(read_before_start, chunks_);
  EXPECT_EQ(ahead.layout.slots, chunks_);
  EXPECT_EQ(ahead.layout.read_ahead_bytes, bytes_.size());

  // After the device has started, the pool is small again.
  const Stats later = run_pass(coordinator, source(), 1, compare, observed);
  EXPECT_EQ(compare.bytes, 2 * bytes_.size());
  EXPECT_LT(later.layout.slots, chunks_ / 2);
  EXPECT_EQ(later.layout.read_ahead_bytes, 0u);
  // Reads have at most one worker for each slot of a small pool, and one for each read in flight.
  EXPECT_LE(*workers.rbegin(), later.layout.slots + later.layout.queue_depth);
}

TEST_F(DirectReadAhead, IsDoneWithoutIfItsMemoryCannotBeLocked) {
  auto device = std::make_unique<test::WrappedDevice>(
      make_device(DeviceKind::cpu), [](test::DeviceCall call) {
        if (call == test::DeviceCall::lock)
          throw Error(ErrorKind::memory, "no pages can be locked");
      });
  device->stop();
  Coordinator coordinator(
      std::move(device), {.chunk_bytes = test::chunk_bytes, .streams = 2, .direct = DirectIo::yes});
  test::Compare compare(bytes_);
  const Stats stats = run_pass(coordinator, source(), 1, compare);
  EXPECT_EQ(compare.bytes, bytes_.size());
  EXPECT_EQ(stats.layout.read_ahead_bytes, 0u);
  EXPECT_LT(stats.layout.slots, chunks_ / 2);
  EXPECT_NE(stats.outcome.remarks.back().find("no pages can be locked"), std::string::npos);
}

TEST_F(DirectReadAhead, IsGoneThroughOnceIfThereIsMoreToRead) {
  for (const std::size_t streams : {1u, 2u, 5u}) {
    auto device = std::make_unique<test::WrappedDevice>(make_device(DeviceKind::cpu),
                                                        [](test::DeviceCall) {});
    device->stop();
    Coordinator coordinator(std::move(device), {.chunk_bytes = test::chunk_bytes,
                                                .streams = streams,
                                                .queue_depth = 2,
                                                .memory_bytes = 4 * MiB,
                                                .direct = DirectIo::yes});
    test::Compare compare(bytes_);
    const Stats stats = run_pass(coordinator, source(), 1, compare);
    EXPECT_EQ(compare.bytes, bytes_.size());
    EXPECT_LT(stats.layout.slots, chunks_ / 2);
    EXPECT_GT(stats.layout.read_ahead_bytes, 0u);
  }
}

}  // namespace
}  // namespace ooc::detail
