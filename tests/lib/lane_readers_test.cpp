#include "lane_readers.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/residency.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

constexpr std::size_t chunk = 65536;

/// Compares each chunk with what is to be at its place, and then does something with its number.
class Compare final : public Operation {
 public:
  using Act = std::function<void(std::size_t lane, std::size_t chunk)>;

  Compare(
      std::span<const std::byte> expected, LaneTakes takes, Act act = [](auto, auto) {})
      : expected_(expected), takes_(takes), act_(std::move(act)) {}

  void begin(std::size_t, Stream&) override { ++lanes; }
  void process(std::size_t lane, Stream&, DeviceSpan<const std::byte> in, std::uint64_t first,
               DeviceSpan<std::byte>) override {
    EXPECT_TRUE(test::same_bytes({in.data, in.size}, expected_.subspan(first, in.size))) << first;
    bytes += in.size;
    act_(lane, first / chunk);
  }
  void end(std::size_t, Stream&) override {}
  bool takes_any_chunk() const noexcept override { return takes_ == LaneTakes::any; }

  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::size_t> lanes{0};

 private:
  std::span<const std::byte> expected_;
  LaneTakes takes_;
  Act act_;
};

class FileOfChunks : public testing::Test {
 protected:
  test::TempDir directory_;
  std::vector<std::byte> content_ = test::random_bytes(200 * chunk + 4321, 1);
  std::filesystem::path path_ = directory_.write("data", content_);
};

class LaneReadersTest : public FileOfChunks, public testing::WithParamInterface<LaneTakes> {};

// They need no other threads. Where a reader is one of those that were asked for, there are fewer
// lanes, in another pass of the same coordinator too.
TEST_P(LaneReadersTest, AreAsManyThreadsAsAskedFor) {
  const Source source{File::open(path_)};
  std::optional<test::HeldInPageCache> held(path_);
  const bool kernel_tells = page_cache_fraction(source).value_or(0) > 0.9;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    Coordinator coordinator(make_device(DeviceKind::cpu),
                            {.chunk_bytes = chunk, .threads = threads});
    for (const bool cached : {true, false, true}) {
      held.reset();
      if (cached) {
        held.emplace(path_);
      } else {
        test::evict(path_);
      }
      Compare compare(content_, GetParam());
      const Stats stats = coordinator.run(source, 1, compare);
      EXPECT_EQ(compare.bytes, content_.size());
      EXPECT_EQ(stats.bytes, content_.size());
      EXPECT_EQ(compare.lanes, stats.streams);
      EXPECT_TRUE(stats.lanes_read || !cached || !kernel_tells);
      EXPECT_LE(stats.threads, std::max<std::size_t>(threads, stats.lanes_read ? 1 : 2));
      EXPECT_EQ(stats.streams, stats.lanes_read ? threads : (threads + 1) / 2);
    }
  }
}

TEST_P(LaneReadersTest, LeaveReadingToThreadsThatAreMore) {
  const Source source{File::open(path_)};
  const test::HeldInPageCache held(path_);
  Compare compare(content_, GetParam());
  Coordinator coordinator(make_device(DeviceKind::cpu),
                          {.chunk_bytes = chunk, .streams = 2, .threads = 8});
  const Stats stats = coordinator.run(source, 1, compare);
  EXPECT_FALSE(stats.lanes_read);
  EXPECT_EQ(stats.streams, 2u);
  EXPECT_EQ(stats.threads, stats.direct ? 3u : 8u);
}

TEST_P(LaneReadersTest, TellOfAFileThatShrinks) {
  std::atomic<bool> is_cut{false};
  Compare compare(content_, GetParam(), [&](std::size_t, std::size_t k) {
    if (k == 10) {
      std::filesystem::resize_file(path_, 30 * chunk);
      is_cut = true;
      is_cut.notify_all();
    }
    if (k > 10) is_cut.wait(false);  // or all might be read before
  });
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk, .streams = 3});
  try {
    coordinator.run(Source{File::open(path_)}, 1, compare);
    FAIL() << "read what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input_changed) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Takes, LaneReadersTest,
                         testing::Values(LaneTakes::its_share, LaneTakes::any),
                         [](const auto& takes) {
                           return takes.param == LaneTakes::any ? "any" : "its_share";
                         });

class SlowLaneTest : public FileOfChunks {
 protected:
  void SetUp() override {
    if (page_cache_fraction(source_).value_or(0) < 0.9) GTEST_SKIP() << "the kernel does not tell";
  }

  /// The lane, of two, that took each chunk, where the one that has chunk 0 goes on only when
  /// `others` more are done, or it has waited for long enough.
  std::vector<std::size_t> lanes_of_chunks(LaneTakes takes, std::size_t others) {
    std::vector<std::size_t> lanes(divide_up(content_.size(), chunk));
    std::atomic<std::size_t> done{0};
    Compare compare(content_, takes, [&](std::size_t lane, std::size_t k) {
      lanes[k] = lane;
      if (k != 0) {
        ++done;
        return;
      }
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (done < others && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk, .streams = 2});
    EXPECT_TRUE(coordinator.run(source_, 1, compare).lanes_read);
    EXPECT_EQ(compare.bytes, content_.size());
    return lanes;
  }

  test::HeldInPageCache held_{path_};
  Source source_{File::open(path_)};
};

TEST_F(SlowLaneTest, LeavesToTheOtherWhatMayBeAnyones) {
  const std::vector<std::size_t> lanes = lanes_of_chunks(LaneTakes::any, 150);
  EXPECT_LE(std::ranges::count(lanes, lanes[0]), 201 - 150);
}

TEST_F(SlowLaneTest, KeepsItsShare) {
  const std::vector<std::size_t> lanes = lanes_of_chunks(LaneTakes::its_share, 100);
  for (std::size_t k = 0; k < lanes.size(); ++k) EXPECT_EQ(lanes[k], k % 2) << k;
}

}  // namespace
}  // namespace ooc
