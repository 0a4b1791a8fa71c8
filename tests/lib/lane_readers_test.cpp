#include "lane_readers.hpp"

#include <ooc/io/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc {
namespace {

constexpr std::size_t chunk = 65536;

/// Compares each chunk with what is to be at its place, and then does something.
class Compare final : public Operation {
 public:
  explicit Compare(
      std::span<const std::byte> expected, std::function<void(std::uint64_t)> act = [](auto) {})
      : expected_(expected), act_(std::move(act)) {}

  void begin(std::size_t, Stream&) override { ++lanes; }
  void process(std::size_t, Stream&, DeviceSpan<const std::byte> in, std::uint64_t first,
               DeviceSpan<std::byte>) override {
    EXPECT_TRUE(std::ranges::equal(in, expected_.subspan(first, in.size))) << first;
    bytes += in.size;
    act_(first);
  }
  void end(std::size_t, Stream&) override {}

  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::size_t> lanes{0};

 private:
  std::span<const std::byte> expected_;
  std::function<void(std::uint64_t)> act_;
};

class LaneReadersTest : public testing::Test {
 protected:
  test::TempDir directory_;
  std::vector<std::byte> content_ = test::random_bytes(200 * chunk + 4321, 1);
  std::filesystem::path path_ = directory_.write("data", content_);
};

// They need no other threads. Where a reader is one of those that were asked for, there are fewer
// lanes, in another pass of the same coordinator too.
TEST_F(LaneReadersTest, AreAsManyThreadsAsAskedFor) {
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
      Compare compare(content_);
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

TEST_F(LaneReadersTest, LeaveReadingToThreadsThatAreMore) {
  const Source source{File::open(path_)};
  const test::HeldInPageCache held(path_);
  Compare compare(content_);
  Coordinator coordinator(make_device(DeviceKind::cpu),
                          {.chunk_bytes = chunk, .streams = 2, .threads = 8});
  const Stats stats = coordinator.run(source, 1, compare);
  EXPECT_FALSE(stats.lanes_read);
  EXPECT_EQ(stats.streams, 2u);
  EXPECT_EQ(stats.threads, stats.direct ? 3u : 8u);
}

TEST_F(LaneReadersTest, TellOfAFileThatShrinks) {
  Compare compare(content_, [&](std::uint64_t first) {
    if (first == 10 * chunk) std::filesystem::resize_file(path_, 30 * chunk);
  });
  Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk, .streams = 3});
  try {
    coordinator.run(Source{File::open(path_)}, 1, compare);
    FAIL() << "read what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::input_changed) << error.what();
  }
}

}  // namespace
}  // namespace ooc
