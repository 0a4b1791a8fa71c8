// Tests passes on a device that reads host memory and works asynchronously, as a GPU does that
// shares the memory of its processor.

#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/late_device.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// Adds up bytes where they are, when the stream comes to it.
struct LateByteSum {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;

  void consume(Stream& stream, DeviceChunk<const Input> in, Partial& sum) const {
    dynamic_cast<test::LateStream&>(stream).add(
        [in, &sum] { sum = std::accumulate(in.begin(), in.end(), sum); });
  }
  void finish(Stream& stream, std::span<Partial>) const { stream.synchronize(); }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Adds one to each byte, when the stream comes to it.
struct LateIncrement {
  using Input = std::uint8_t;
  using Output = std::uint8_t;

  void transform(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out) const {
    dynamic_cast<test::LateStream&>(stream).add([in, out] {
      for (std::size_t i = 0; i < in.size; ++i) out[i] = static_cast<std::uint8_t>(in[i] + 1);
    });
  }
};

class HostMemoryDevice : public testing::Test {
 protected:
  std::unique_ptr<Device> device() {
    return std::make_unique<test::LateDevice>(
        test::Lateness{.copied = [this](auto, auto, auto) { ++copies_; }}, true);
  }

  test::TempDir dir_;
  std::vector<std::byte> bytes_ = test::random_bytes(40 * 65536 + 77, 1);
  std::filesystem::path path_ = dir_.write("data", bytes_);
  std::atomic<int> copies_{0};
};

TEST_F(HostMemoryDevice, FoldsWithoutACopy) {
  const auto sum = std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0},
                                   [](std::uint64_t so_far, std::byte byte) {
                                     return so_far + std::to_integer<std::uint64_t>(byte);
                                   });
  for (const std::size_t streams : {1, 2, 5}) {
    Coordinator coordinator(device(), {.chunk_bytes = 65536, .streams = streams});
    const auto [found, stats] = fold(coordinator, LateByteSum{}, open_bytes(path_));
    EXPECT_EQ(found, sum);
    EXPECT_EQ(stats.timing.h2d.busy, 0);
    EXPECT_FALSE(stats.layout.reads_inline);
  }
  EXPECT_EQ(copies_, 0);
}

TEST_F(HostMemoryDevice, MapsWithoutACopy) {
  Coordinator coordinator(device(), {.chunk_bytes = 65536, .streams = 2});
  const Target target{.path = dir_.path() / "out.u8", .type = {ElementType::u1}};
  map(coordinator, LateIncrement{}, open_bytes(path_), target);
  std::vector<std::byte> expected = bytes_;
  for (std::byte& byte : expected) byte = std::byte(std::to_integer<int>(byte) + 1);
  const std::string written = test::read_whole(target.path);
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(written)), expected));
  EXPECT_EQ(copies_, 0);
}

}  // namespace
}  // namespace ooc::detail
