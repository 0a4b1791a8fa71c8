#include <ooc/coordinator.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/pass/run_pass.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/data_file.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

// Tests that a coordinator gives its host memory back and keeps to its limit.

namespace ooc::detail {
namespace {

class CoordinatorMemoryTest : public testing::Test {
 protected:
  Source part(std::uint64_t offset, std::uint64_t bytes) const {
    std::vector<File> files;
    files.push_back(File::open(path_));
    return SourceAccess::of_files(std::move(files), {{0, offset, bytes}}, {ElementType::u1});
  }

  /// Runs a pass over a part of the file and expects all its bytes.
  Stats expect_all(Coordinator& coordinator, std::size_t element_bytes, std::uint64_t offset,
                   std::uint64_t bytes) const {
    test::Collect collect(bytes);
    const Stats stats = run_pass(coordinator, part(offset, bytes), element_bytes, collect);
    EXPECT_TRUE(test::same_bytes(collect.data, std::span(contents_).subspan(offset, bytes)));
    return stats;
  }

  static constexpr std::size_t file_bytes = 64 * 65536;
  test::TempDir dir_;
  std::vector<std::byte> contents_ = test::random_bytes(file_bytes, 1);
  std::filesystem::path path_ = dir_.write("data.bin", contents_);
};

TEST_F(CoordinatorMemoryTest, GivesItsMemoryBack) {
  Coordinator coordinator(make_device(DeviceKind::cpu));
  for (int pass = 0; pass < 2; ++pass) {
    expect_all(coordinator, 1, 0, file_bytes);
    EXPECT_GT(coordinator.device().host_memory().bytes_in_use(), 0u);
    static_cast<void>(reserve(coordinator));
    EXPECT_EQ(coordinator.device().host_memory().bytes_in_use(), 0u);
  }
}

TEST_F(CoordinatorMemoryTest, KeepsToTheMemoryItWasGiven) {
  for (const std::size_t limit : {256 * KiB, 1 * MiB, 3 * MiB}) {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.streams = 2, .memory_bytes = limit});
    const Stats stats = expect_all(coordinator, 1, 0, file_bytes);
    EXPECT_LE(coordinator.device().host_memory().peak_bytes(), limit);
    EXPECT_EQ(stats.layout.pool_bytes, coordinator.device().host_memory().peak_bytes());
  }
  Coordinator coordinator(make_device(DeviceKind::cpu), {.memory_bytes = 10'000});
  try {
    expect_all(coordinator, 1, 0, file_bytes);
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("10000"), std::string::npos) << error.what();
  }
}

// The first pass, with two chunks of 8-byte elements, leaves a pool of two large slots. The second
// source is not aligned to its elements, so the lane gathers its chunks in memory of its own. The
// limit has room for that only if the slots become smaller.
TEST_F(CoordinatorMemoryTest, ALimitIsKeptAfterAPassWithLargerChunks) {
  constexpr std::size_t limit = 1200 * KiB;
  Coordinator coordinator(
      make_device(DeviceKind::cpu),
      {.chunk_bytes = 1, .streams = 1, .memory_bytes = limit, .engine = EngineKind::threads});
  const Stats large = expect_all(coordinator, 8, 0, 2 * 8 * test::partition_elements);
  EXPECT_EQ(large.layout.slots, 2u);
  EXPECT_GT(large.layout.pool_bytes + 4 * test::partition_elements, limit);
  const Stats small = expect_all(coordinator, 4, 1, 2 * 4 * test::partition_elements);
  EXPECT_EQ(small.layout.slots, 2u);
  EXPECT_LT(small.layout.pool_bytes, large.layout.pool_bytes);
  EXPECT_LE(coordinator.device().host_memory().peak_bytes(), limit);
}

}  // namespace
}  // namespace ooc::detail
