#include "layout.hpp"

#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "support/temp_dir.hpp"

namespace ooc {
namespace {

class LayoutTest : public testing::Test {
 protected:
  /// A file with nothing in it; its holes are in no cache, so it is read directly.
  Source sparse(std::uint64_t bytes, std::uint64_t offset = 0) {
    const auto path = dir_.path() / "sparse.bin";
    std::ofstream{path};
    std::filesystem::resize_file(path, offset + bytes);
    std::vector<File> files;
    files.push_back(File::open(path));
    return Source(std::move(files), {{0, offset, bytes}}, {ElementType::u1, false});
  }

  test::TempDir dir_;
  Workers workers_{.lanes = 2, .readers = 4, .writers = 2};
};

TEST_F(LayoutTest, ReadsADiskThroughASmallPool) {
  const Layout layout = choose_layout({}, DeviceKind::cuda, workers_, sparse(1024 * GiB), 4);
  ASSERT_TRUE(layout.reads.direct) << layout.reasons.front();
  EXPECT_LE(layout.slots * layout.slot_bytes, 20 * MiB);
  EXPECT_GE(layout.reads.queue_depth * layout.reads.block_bytes, 4 * MiB);
  EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, layout.slots * layout.slot_bytes);
}

TEST_F(LayoutTest, FillsTheLinkFromThePageCache) {
  const Layout layout =
      choose_layout({.direct = DirectIo::no}, DeviceKind::cuda, workers_, sparse(8 * GiB), 4);
  EXPECT_EQ(layout.reads.engine, EngineKind::threads);
  EXPECT_GE(layout.chunk_bytes, 8 * MiB);
}

TEST_F(LayoutTest, CutsChunksInWholeTiles) {
  for (const std::size_t element_bytes : {1u, 2u, 4u, 8u}) {
    for (const std::size_t chunk : {std::size_t{1}, 300'000 * std::size_t{1}, 5 * MiB}) {
      const Layout layout = choose_layout({.chunk_bytes = chunk}, DeviceKind::cpu, workers_,
                                          sparse(64 * MiB), element_bytes);
      EXPECT_EQ(layout.chunk_bytes % (tile_elements * element_bytes), 0u);
      EXPECT_GE(layout.chunk_bytes, chunk);
    }
  }
}

TEST_F(LayoutTest, NeedsNoMoreSlotsThanThereAreChunks) {
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(1 * MiB), 1).slots, 2u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(100), 1).slots, 1u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(0), 1).slots, 1u);
}

TEST_F(LayoutTest, KeepsToTheLimits) {
  for (const std::size_t limit : {512 * KiB, 2 * MiB, 8 * MiB, 64 * MiB}) {
    const Layout layout =
        choose_layout({.memory_bytes = limit}, DeviceKind::cuda, workers_, sparse(8 * GiB), 1);
    EXPECT_LE(layout.slots * layout.slot_bytes, limit);
    EXPECT_GE(layout.slots, 2u);
    const Layout small =
        choose_layout({.device_bytes = limit}, DeviceKind::cuda, workers_, sparse(8 * GiB), 1);
    EXPECT_LE(2 * workers_.lanes * small.chunk_bytes, limit);
  }
}

TEST_F(LayoutTest, CountsTheMemoryOfGatheringLanes) {
  const Options options{.chunk_bytes = 1 * MiB, .memory_bytes = 4 * MiB};
  const Layout aligned = choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 4), 4);
  const Layout odd = choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 3), 4);
  EXPECT_FALSE(aligned.gathers);
  EXPECT_TRUE(odd.gathers);
  EXPECT_LE(odd.slots * odd.slot_bytes + workers_.lanes * odd.chunk_bytes, 4 * MiB);
}

TEST_F(LayoutTest, RefusesWhatDoesNotFit) {
  try {
    choose_layout({.memory_bytes = 1000}, DeviceKind::cpu, workers_, sparse(8 * GiB), 1);
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::memory);
    EXPECT_FALSE(error.details().hint.empty());
  }
}

TEST(Workers, AreAsManyAsAskedFor) {
  EXPECT_EQ(choose_workers({.streams = 3, .threads = 8}, DeviceKind::cuda).readers, 5u);
  for (const std::size_t threads : {1u, 2u, 5u, 16u}) {
    const Workers workers = choose_workers({.threads = threads}, DeviceKind::cpu);
    EXPECT_EQ(workers.lanes + workers.readers, std::max<std::size_t>(threads, 2));
  }
}

}  // namespace
}  // namespace ooc
