// Tests that a map that fails leaves its target as it was, and no other file beside it.

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/faulty_engine.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::chunk_bytes;
using test::Copy;
using WidenToU8 = test::Zero<std::uint8_t, std::uint64_t>;

/// Copies and counts bytes. Its check fails if there are more than `most`.
struct CountingCopy {
  using Input = std::uint8_t;
  using Output = std::uint8_t;
  using Partial = std::uint64_t;
  std::uint64_t most;

  void transform(Stream& stream, DeviceChunk<const std::uint8_t> in, DeviceSpan<std::uint8_t> out,
                 Partial& count) const {
    stream.copy(out.data, in.data, in.size);
    count += in.size;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
  void check(const Partial& total) const {
    if (total > most) throw Error(ErrorKind::bad_input, "too many bytes");
  }
};

class MapFaultTest : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr std::size_t chunks_ = 30;

  std::unique_ptr<Device> device() const { return make_device(GetParam()); }

  Target target() const { return {.path = target_, .type = {ElementType::u1}, .replace = true}; }
  Source source() const { return open(source_); }

  void expect_untouched() const {
    EXPECT_EQ(test::read_whole(target_), "old");
    EXPECT_EQ(dir_.names(), (std::vector<std::string>{"source.u8", "target.bin"}));
  }

  /// Returns the message of the error that a map throws.
  template <class Op>
  std::string error_of_map(Coordinator& coordinator, const Op& op) {
    try {
      map(coordinator, op, source(), target());
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }

  void expect_copied(Coordinator& coordinator) {
    map(coordinator, Copy{}, source(), target());
    EXPECT_TRUE(test::read_whole(target_) == test::read_whole(source_));
    dir_.write("target.bin", "old");
  }

  test::TempDir dir_;
  std::filesystem::path source_ =
      dir_.write("source.u8", test::random_bytes(chunks_* chunk_bytes - 5, 1));
  std::filesystem::path target_ = dir_.write("target.bin", "old");
};

INSTANTIATE_TEST_SUITE_P(Devices, MapFaultTest, test::all_devices, test::device_name);

TEST_P(MapFaultTest, AnErrorOfTheOperatorLeavesTheOldFile) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), {.chunk_bytes = chunk_bytes, .streams = 3});
  for (const std::uint64_t chunk : {0u, 1u, 17u, 29u}) {
    const Copy failing{test::at(chunk * chunk_bytes,
                                [] { throw std::runtime_error("the operator's own error"); })};
    EXPECT_EQ(error_of_map(coordinator, failing), "the operator's own error");
    expect_untouched();
    expect_copied(coordinator);
  }
}

TEST_P(MapFaultTest, AResultThatDoesNotWithstandItsCheckIsNotWritten) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), {.chunk_bytes = chunk_bytes, .streams = 3});
  EXPECT_EQ(error_of_map(coordinator, CountingCopy{.most = 1000}), "too many bytes");
  expect_untouched();
  const std::uint64_t bytes = chunks_ * chunk_bytes - 5;
  EXPECT_EQ(map(coordinator, CountingCopy{.most = bytes}, source(), target()).value, bytes);
  EXPECT_EQ(std::filesystem::file_size(target_), bytes);
}

TEST_P(MapFaultTest, AnErrorOfEitherDiskLeavesTheOldFile) {
  OOC_SKIP_WITHOUT(GetParam());
  for (const bool writes : {false, true}) {
    for (const std::size_t good : {0u, 1u, 10u, 29u}) {
      bool broken = true;
      const auto make_broken_engine = [&](const EngineOptions& wanted) -> std::unique_ptr<Engine> {
        auto engine = make_engine(wanted);
        if (!broken || wanted.writes != writes) return engine;
        return std::make_unique<test::FaultyEngine>(std::move(engine), good, [writes] {
          throw Error::from_errno(writes ? ErrorKind::output : ErrorKind::input,
                                  writes ? "write" : "read", writes ? ENOSPC : EIO, "x", 7);
        });
      };
      Coordinator coordinator(device(), {.chunk_bytes = chunk_bytes,
                                         .streams = 2,
                                         .block_bytes = chunk_bytes,
                                         .make_engine = make_broken_engine});
      EXPECT_EQ(error_of_map(coordinator, Copy{}),
                writes ? "x: write failed at byte 7: No space left on device (ENOSPC)"
                       : "x: read failed at byte 7: Input/output error (EIO)");
      expect_untouched();
      broken = false;
      expect_copied(coordinator);
    }
  }
}

TEST_P(MapFaultTest, WritesNothingIfItIsStopped) {
  OOC_SKIP_WITHOUT(GetParam());
  for (const std::uint64_t chunk : {std::size_t{0}, std::size_t{5}, std::size_t{11}, chunks_ - 1}) {
    std::stop_source stop;
    Coordinator coordinator(device(), {.chunk_bytes = chunk_bytes,
                                       .streams = 2,
                                       .threads = 3,
                                       .block_bytes = chunk_bytes,
                                       .queue_depth = 1});
    try {
      map(coordinator, Copy{test::at(chunk * chunk_bytes, [&] { stop.request_stop(); })}, source(),
          target(), {.stop = stop.get_token()});
      FAIL() << "stopped at chunk " << chunk << ", but all was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    }
    expect_untouched();
  }
}

TEST_P(MapFaultTest, KeepsToTheMemoryItWasGiven) {
  OOC_SKIP_WITHOUT(GetParam());
  for (const std::size_t limit : {4 * MiB, 8 * MiB, 32 * MiB}) {
    Coordinator coordinator(device(),
                            {.streams = 2, .memory_bytes = limit, .device_bytes = 4 * limit});
    map(coordinator, WidenToU8{}, source(),
        {.path = target_, .type = {ElementType::u8}, .replace = true});
    EXPECT_EQ(std::filesystem::file_size(target_), 8 * std::filesystem::file_size(source_));
    EXPECT_LE(coordinator.device().host_memory().peak_bytes(), limit);
    EXPECT_LE(coordinator.device().device_memory().peak_bytes(), 4 * limit);
  }
}

TEST_P(MapFaultTest, KeepsToTheMemoryFromPassToPass) {
  OOC_SKIP_WITHOUT(GetParam());
  constexpr std::size_t limit = 4 * MiB;
  const std::vector<std::filesystem::path> twice{source_, source_};
  const Source gathered = open(twice, {.offset = 3});  // its chunks are gathered by lanes
  const Target wide{.path = target_, .type = {ElementType::u8}, .replace = true};
  Coordinator coordinator(device(), {.streams = 2, .memory_bytes = limit});
  for (int round = 0; round < 2; ++round) {
    map(coordinator, Copy{}, source(), target());
    map(coordinator, Copy{}, gathered, target());
    map(coordinator, WidenToU8{}, gathered, wide);
    map(coordinator, WidenToU8{}, source(), wide);
  }
  EXPECT_LE(coordinator.device().host_memory().peak_bytes(), limit);
}

TEST_P(MapFaultTest, RefusesMemoryThatIsTooSmall) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device(), {.memory_bytes = 10'000});
  try {
    map(coordinator, Copy{}, source(), target());
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
  }
  expect_untouched();
}

TEST_P(MapFaultTest, TheInputIsNoTarget) {
  OOC_SKIP_WITHOUT(GetParam());
  Coordinator coordinator(device());
  std::filesystem::remove(target_);
  std::filesystem::create_hard_link(source_, target_);
  const std::string before = test::read_whole(source_);
  EXPECT_NE(error_of_map(coordinator, Copy{}).find("is the input"), std::string::npos);
  EXPECT_TRUE(test::read_whole(source_) == before);
}

}  // namespace
}  // namespace ooc::detail
