// Tests passes on a GPU without enough memory for their buffers. A pass halves its chunks once, or
// reports how much memory it would have needed.

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/fault.hpp"
#include "support/faulty_device.hpp"
#include "support/late_device.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Copy;
using test::Fault;
using test::Sum;

class DeviceMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t source_bytes_ = 3 * MiB - 5;  // less than a chunk
  // Half of the source.
  static constexpr std::size_t half_chunk_bytes_ = 24 * test::partition_elements;
  static constexpr std::size_t streams_ = 2;
  static constexpr std::size_t buffers_ = 2 * streams_;  // each holds a chunk

  static std::unique_ptr<Device> faulty(Fault& fault) {
    return test::faulty_device(std::make_unique<test::LateDevice>(),
                               test::DeviceFault::device_memory, fault);
  }

  /// Returns a device with memory for all buffers, of `buffer_bytes` each, and not one byte more.
  static std::unique_ptr<Device> with_room_for(std::size_t buffer_bytes) {
    auto device = std::make_unique<test::LateDevice>();
    device->device_memory().set_limit(buffers_ * buffer_bytes);
    return device;
  }

  /// Runs a fold, expects the right answer, and returns the statistics.
  Stats right_fold(std::unique_ptr<Device> device, Options options = {}) {
    options.streams = streams_;
    options.direct = DirectIo::no;
    Coordinator coordinator(std::move(device), options);
    const auto result = fold(coordinator, Sum{}, open(source_));
    const auto add = [](std::uint64_t sum, std::byte b) { return sum + std::to_integer<int>(b); };
    EXPECT_EQ(result.value, std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0}, add));
    return result.stats;
  }

  Error refusal(std::unique_ptr<Device> device, const Options& options = {}) {
    try {
      right_fold(std::move(device), options);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "there was room";
    return Error(ErrorKind::internal, "");
  }

  test::TempDir dir_;
  std::vector<std::byte> bytes_ = test::random_bytes(source_bytes_, 3);
  std::filesystem::path source_ = dir_.write("in.u8", bytes_);
};

TEST_F(DeviceMemoryTest, TakesHalfTheChunkOnce) {
  Fault none(SIZE_MAX, Fault::Mode::once);
  const Stats before = right_fold(faulty(none));
  EXPECT_EQ(before.layout.chunk_bytes, 8 * MiB);
  for (std::size_t nth = 0; nth < buffers_; ++nth) {
    Fault fault(nth, Fault::Mode::once);
    const Stats stats = right_fold(faulty(fault));
    EXPECT_EQ(stats.layout.chunk_bytes, half_chunk_bytes_);
    const Reason why = stats.layout.why_chunk.value();
    EXPECT_EQ(why.what, ReasonKind::chunk_halved);
    EXPECT_EQ(why.figures, (std::vector<std::uint64_t>{half_chunk_bytes_, 8 * MiB}));
    const std::string& remark = stats.outcome.remarks.back();
    EXPECT_TRUE(remark.ends_with(": " + why.why)) << remark;
    EXPECT_EQ(remark.rfind("using chunks of 1572864 bytes instead of 8388608: the buffers of 2 "
                           "streams take " +
                               std::to_string(buffers_ * source_bytes_) +
                               " bytes of device memory, of which ",
                           0),
              0u)
        << remark;
  }
}

/// Takes chunks in their order, so its lanes wait for one another.
struct LastInOrder {
  using Input = std::uint8_t;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::in_order;
  static constexpr std::size_t partition_records = test::partition_elements;

  void consume(Stream&, DeviceChunk<const std::uint8_t> in, Partial& end) const {
    end = in.first + in.size;
  }
  void merge(Partial& total, const Partial& part) const { total = part; }
};

/// Gives zeros.
class Zeros final : public Producer {
 public:
  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    const std::size_t bytes = std::min(room.size(), left_);
    std::ranges::fill(room.first(bytes), std::byte{0});
    left_ -= bytes;
    return bytes;
  }

 private:
  std::size_t left_ = 100'000'000;
};

// The second attempt has the same operation and the same producer as the first.
TEST_F(DeviceMemoryTest, TakesHalfTheChunkWithWhatIsLeftOfTheFirstAttempt) {
  const Options two_streams{.streams = streams_, .direct = DirectIo::no};
  {
    Fault fault(0, Fault::Mode::once);
    Coordinator coordinator(faulty(fault), two_streams);
    const auto [end, stats] = fold(coordinator, LastInOrder{}, open(source_));
    EXPECT_EQ(end, source_bytes_);
    EXPECT_EQ(stats.layout.chunk_bytes, half_chunk_bytes_);
  }
  Fault fault(0, Fault::Mode::once);
  Coordinator coordinator(faulty(fault), two_streams);
  const Source zeros = produced(std::make_unique<Zeros>(), {ElementType::u1});
  const auto [end, stats] = fold(coordinator, LastInOrder{}, zeros);
  EXPECT_EQ(end, 100'000'000u);
  EXPECT_EQ(stats.layout.chunk_bytes, 4 * MiB);
}

TEST_F(DeviceMemoryTest, FitsInWhatHalfTheChunksTake) {
  EXPECT_GT(right_fold(with_room_for(source_bytes_)).layout.chunk_bytes, source_bytes_);
  EXPECT_EQ(right_fold(with_room_for(source_bytes_ - 1)).layout.chunk_bytes, half_chunk_bytes_);
  EXPECT_EQ(right_fold(with_room_for(half_chunk_bytes_)).layout.chunk_bytes, half_chunk_bytes_);
  EXPECT_EQ(refusal(with_room_for(half_chunk_bytes_ - 1)).kind(), ErrorKind::memory);
}

TEST_F(DeviceMemoryTest, SaysWhatItWouldHaveNeeded) {
  Fault fault(0, Fault::Mode::from_then_on);
  const Error error = refusal(faulty(fault));
  EXPECT_EQ(error.kind(), ErrorKind::memory);
  const std::string what = error.what();
  EXPECT_EQ(
      what.rfind("the buffers of 2 streams take 6291456 bytes of device memory, of which ", 0), 0u)
      << what;
  EXPECT_NE(what.find(" are free"), std::string::npos) << what;
  EXPECT_EQ(error.details().why, "no memory is left");
  EXPECT_EQ(advice(error.details()),
            "free the memory that other programs hold (nvidia-smi shows it), or lower "
            "Options::chunk_bytes or Options::streams");
}

TEST_F(DeviceMemoryTest, BlamesTheLimitIfThatIsTooLow) {
  const Error error = refusal(with_room_for(1000));
  EXPECT_STREQ(error.what(),
               "the buffers of 2 streams take 6291456 bytes of device memory, of which 4000 are "
               "allowed");
  EXPECT_EQ(advice(error.details()),
            "raise Options::device_bytes to at least 6291456, or lower Options::chunk_bytes or "
            "Options::streams");
}

TEST_F(DeviceMemoryTest, NamesALimitThatIsEnough) {
  const auto least = [&](std::size_t device_bytes) {
    const Error error =
        refusal(std::make_unique<test::LateDevice>(), {.device_bytes = device_bytes});
    const Remedy& first = error.details().remedies.front();
    EXPECT_EQ(first.setting, "Options::device_bytes");
    return std::stoul(first.value);
  };
  const std::size_t enough = least(1000);
  EXPECT_EQ(least(enough - 1), enough);
  right_fold(std::make_unique<test::LateDevice>(), {.device_bytes = enough});
}

TEST_F(DeviceMemoryTest, KeepsAChunkThatTheUserHasFixed) {
  const Options fixed{.chunk_bytes = 4 * test::partition_elements};
  EXPECT_EQ(refusal(with_room_for(fixed.chunk_bytes - 1), fixed).kind(), ErrorKind::memory);
  EXPECT_EQ(right_fold(with_room_for(fixed.chunk_bytes), fixed).layout.chunk_bytes,
            fixed.chunk_bytes);
}

TEST_F(DeviceMemoryTest, BeginsAMapAnew) {
  const auto target = dir_.path() / "out.u8";
  for (std::size_t nth = 0; nth < 2 * buffers_; ++nth) {
    Fault fault(nth, Fault::Mode::once);
    Coordinator coordinator(faulty(fault), {.streams = streams_});
    map(coordinator, Copy{}, open(source_),
        {.path = target, .type = {ElementType::u1}, .replace = true});
    EXPECT_TRUE(fault.has_struck());
    EXPECT_TRUE(test::read_whole(target) == test::read_whole(source_));
  }
}

/// A fixture with a real GPU of which only some megabytes are free. CUDA allocates memory in pieces
/// of 2 MiB, so the chunks are large here.
class FullGpuTest : public DeviceMemoryTest {
 protected:
  static constexpr std::size_t chunk_bytes = 8 * MiB;

  void SetUp() override {
    OOC_SKIP_WITHOUT(DeviceKind::cuda);
    bytes_ = test::random_bytes(8 * chunk_bytes, 5);
    source_ = dir_.write("in.u8", bytes_);
    right_fold(make_device(DeviceKind::cuda));  // makes CUDA load all it needs for a fold
    gpu_ = make_device(DeviceKind::cuda);
    gpu_->bind_to_thread();
  }

  void leave(std::size_t bytes) {
    rest_ = Buffer();
    rest_ = Buffer(gpu_->device_memory(), gpu_->available_bytes() - bytes);
  }

  std::unique_ptr<Device> gpu_;
  Buffer rest_;
};

TEST_F(FullGpuTest, APassTakesHalfTheChunk) {
  leave(buffers_ * chunk_bytes * 3 / 4);
  const Stats stats = right_fold(make_device(DeviceKind::cuda));
  EXPECT_EQ(stats.layout.chunk_bytes, chunk_bytes / 2);
  EXPECT_EQ(
      stats.outcome.remarks.back().rfind("using chunks of 4194304 bytes instead of 8388608: ", 0),
      0u)
      << stats.outcome.remarks.back();
}

TEST_F(FullGpuTest, APassThatDoesNotFitSaysWhatItNeeds) {
  leave(buffers_ * chunk_bytes / 4);
  const Error error = refusal(make_device(DeviceKind::cuda));
  EXPECT_EQ(error.kind(), ErrorKind::memory);
  EXPECT_NE(std::string(error.what()).find("take 16777216 bytes of device memory"),
            std::string::npos)
      << error.what();
  rest_ = Buffer();
  EXPECT_EQ(right_fold(make_device(DeviceKind::cuda)).layout.chunk_bytes, chunk_bytes);
}

}  // namespace
}  // namespace ooc::detail
