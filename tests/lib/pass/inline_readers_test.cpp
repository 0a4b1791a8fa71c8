#include "pass/inline_readers.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t chunk = 65536;

using test::Compare;

class FileOfChunks : public testing::Test {
 protected:
  test::TempDir directory_;
  std::vector<std::byte> content_ = test::random_bytes(200 * chunk + 4321, 1);
  std::filesystem::path path_ = directory_.write("data", content_);
};

using InlineReadersTest = FileOfChunks;

// Lanes that load their own chunks need no other threads. Otherwise readers count as threads that
// were asked for, so there are fewer lanes, also in a later pass of the same coordinator.
TEST_F(InlineReadersTest, AreAsManyThreadsAsAskedFor) {
  const Source source = open_bytes(path_);
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
      Compare compare(content_);
      const Stats stats = run_pass(coordinator, source, 1, compare);
      EXPECT_EQ(compare.bytes, content_.size());
      EXPECT_EQ(stats.outcome.bytes, content_.size());
      EXPECT_EQ(compare.lanes, stats.layout.streams);
      EXPECT_TRUE(stats.layout.reads_inline || !cached || !kernel_tells);
      EXPECT_LE(stats.layout.threads,
                std::max<std::size_t>(threads, stats.layout.reads_inline ? 1 : 2));
      EXPECT_EQ(stats.layout.streams, stats.layout.reads_inline ? threads : (threads + 1) / 2);
    }
  }
}

TEST_F(InlineReadersTest, LeaveReadingToThreadsThatAreMore) {
  const Source source = open_bytes(path_);
  const test::HeldInPageCache held(path_);
  Compare compare(content_);
  Coordinator coordinator(make_device(DeviceKind::cpu),
                          {.chunk_bytes = chunk, .streams = 2, .threads = 8});
  const Stats stats = run_pass(coordinator, source, 1, compare);
  EXPECT_FALSE(stats.layout.reads_inline);
  EXPECT_EQ(stats.layout.streams, 2u);
  EXPECT_EQ(stats.layout.threads, stats.layout.direct ? 3u : 8u);
}

TEST_F(InlineReadersTest, TellOfAFileThatShrinks) {
  std::atomic<bool> is_cut{false};
  Compare compare(content_, [&](std::size_t, std::uint64_t first) {
    const std::uint64_t k = first / chunk;
    if (k == 10) {
      std::filesystem::resize_file(path_, 30 * chunk);
      is_cut = true;
      is_cut.notify_all();
    }
    if (k > 10) is_cut.wait(false);  // or lanes might read all chunks before
  });
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk, .streams = 3});
  try {
    run_pass(coordinator, open_bytes(path_), 1, compare);
    FAIL() << "read what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input_changed) << error.what();
  }
}

class SlowLaneTest : public FileOfChunks {
 protected:
  void SetUp() override {
    if (page_cache_fraction(source_).value_or(0) < 0.9) GTEST_SKIP() << test::needs_page_cache;
  }

  /// Returns which of two lanes took each chunk. The lane with chunk 0 goes on only when `others`
  /// more chunks are done, or after some seconds.
  std::vector<std::size_t> lanes_of_chunks(std::size_t others) {
    std::vector<std::size_t> lanes(divide_up(content_.size(), chunk));
    std::atomic<std::size_t> done{0};
    Compare compare(content_, [&](std::size_t lane, std::uint64_t first) {
      const std::uint64_t k = first / chunk;
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
    EXPECT_TRUE(run_pass(coordinator, source_, 1, compare).layout.reads_inline);
    EXPECT_EQ(compare.bytes, content_.size());
    return lanes;
  }

  test::HeldInPageCache held_{path_};
  Source source_ = open_bytes(path_);
};

TEST_F(SlowLaneTest, LeavesTheStepsToTheOthers) {
  const std::vector<std::size_t> lanes = lanes_of_chunks(150);
  EXPECT_LE(std::ranges::count(lanes, lanes[0]), 201 - 150);
}

}  // namespace
}  // namespace ooc::detail
