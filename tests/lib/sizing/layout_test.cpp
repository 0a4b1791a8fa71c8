#include "sizing/layout.hpp"

#include <ooc/detail/dataset/residency.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/sizing/layout_fixture.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"

namespace ooc {
namespace {

using test::LayoutTest;

TEST_F(LayoutTest, OneThreadReadsWhatItComputes) {
  const Workers one = choose_workers({.threads = 1}, DeviceKind::cpu);
  const Source source = sparse(8 * GiB);
  const Layout alone = choose_layout({.threads = 1}, DeviceKind::cpu, one, source, {.bytes = 1});
  EXPECT_TRUE(alone.reads_inline);
  EXPECT_EQ(alone.lanes, 1u);
  EXPECT_FALSE(alone.reads.direct);
  EXPECT_FALSE(alone.tuned_depth);
  EXPECT_NE(alone.reasons.front().find("reads ahead"), std::string::npos);
  const Layout direct = choose_layout({.threads = 1, .direct = DirectIo::yes}, DeviceKind::cpu, one,
                                      source, {.bytes = 1});
  EXPECT_TRUE(direct.reads_inline);
  EXPECT_TRUE(direct.reads.direct);
  EXPECT_FALSE(direct.tuned_depth);
  const Options four_streams{.streams = 4, .threads = 1};
  const Workers four = choose_workers(four_streams, DeviceKind::cpu);
  EXPECT_FALSE(
      choose_layout(four_streams, DeviceKind::cpu, four, source, {.bytes = 1}).reads_inline);
  const Workers two = choose_workers({.threads = 2}, DeviceKind::cpu);
  EXPECT_FALSE(
      choose_layout({.threads = 2}, DeviceKind::cpu, two, source, {.bytes = 1}).reads_inline);
}

TEST_F(LayoutTest, CutsChunksInWholeTiles) {
  for (const std::size_t element_bytes : {1u, 2u, 4u, 8u}) {
    for (const std::size_t chunk : {std::size_t{1}, 300'000 * std::size_t{1}, 5 * MiB}) {
      const Layout layout = choose_layout({.chunk_bytes = chunk}, DeviceKind::cpu, workers_,
                                          sparse(64 * MiB), {.bytes = element_bytes});
      EXPECT_EQ(layout.chunk_bytes % (test::partition_elements * element_bytes), 0u);
      EXPECT_GE(layout.chunk_bytes, chunk);
    }
  }
}

TEST_F(LayoutTest, NeedsNoMoreSlotsThanThereAreChunks) {
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(1 * MiB), {.bytes = 1}).slots, 2u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(100), {.bytes = 1}).slots, 1u);
  EXPECT_EQ(choose_layout({}, DeviceKind::cpu, workers_, sparse(0), {.bytes = 1}).slots, 1u);
}

TEST_F(LayoutTest, KeepsToTheLimits) {
  for (const std::size_t limit : {512 * KiB, 2 * MiB, 8 * MiB, 64 * MiB}) {
    const Layout layout = choose_layout({.memory_bytes = limit}, DeviceKind::cuda, workers_,
                                        sparse(8 * GiB), {.bytes = 1});
    EXPECT_LE(layout.slots * layout.slot_bytes, limit);
    EXPECT_GE(layout.slots, 2u);
    EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, limit);
    EXPECT_LE(layout.reads.threads, layout.reads.queue_depth);
    const Layout small = choose_layout({.device_bytes = limit}, DeviceKind::cuda, workers_,
                                       sparse(8 * GiB), {.bytes = 1});
    // Two buffers for each lane, and as much again for memory of operators.
    EXPECT_LE(4 * workers_.lanes * small.chunk_bytes, limit);
  }
}

TEST_F(LayoutTest, CountsTheMemoryOfGatheringLanes) {
  const Options options{.chunk_bytes = 1 * MiB, .memory_bytes = 4 * MiB};
  const Layout aligned =
      choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 4), {.bytes = 4});
  const Layout odd =
      choose_layout(options, DeviceKind::cpu, workers_, sparse(8 * GiB, 3), {.bytes = 4});
  EXPECT_FALSE(aligned.gathers);
  EXPECT_TRUE(odd.gathers);
  EXPECT_LE(odd.slots * odd.slot_bytes + workers_.lanes * odd.chunk_bytes, 4 * MiB);
}

TEST_F(LayoutTest, HasAsManyLanesThatLoadTheirOwnChunksAsThereIsRoomFor) {
  const auto path = dir_.write("data.bin", test::random_bytes(2 * MiB + 1, 1));
  const test::HeldInPageCache held(path);
  if (page_cache_fraction(Source{File::open(path)}).value_or(0) < 0.9) {
    GTEST_SKIP() << test::needs_page_cache;
  }
  for (const std::uint64_t offset : {0u, 1u}) {  // lanes gather at offset 1
    std::vector<File> files;
    files.push_back(File::open(path));
    const Source source(std::move(files), {{0, offset, 2 * MiB}}, {ElementType::u1, false});
    const auto lanes = [&](std::size_t memory_bytes) {
      const Layout layout = choose_layout({.chunk_bytes = 256 * KiB, .memory_bytes = memory_bytes},
                                          DeviceKind::cpu, workers_, source, {.bytes = 4});
      EXPECT_TRUE(layout.reads_inline);
      EXPECT_EQ(layout.gathers, offset != 0);
      EXPECT_EQ(layout.slots, layout.lanes);
      EXPECT_LE(layout.lanes * (layout.slot_bytes + (layout.gathers ? 256 * KiB : 0)),
                memory_bytes);
      return layout.lanes;
    };
    EXPECT_EQ(lanes(16 * MiB), workers_.reading_lanes);
    EXPECT_EQ(lanes(1 * MiB + 512 * KiB), offset == 0 ? 5u : 2u);
    EXPECT_EQ(lanes(600 * KiB), offset == 0 ? 2u : 1u);
    EXPECT_THROW(lanes(200 * KiB), Error);
    // Here the source is one chunk.
    const Layout one = choose_layout({.chunk_bytes = 4 * MiB, .memory_bytes = 8 * MiB},
                                     DeviceKind::cpu, workers_, source, {.bytes = 4});
    EXPECT_EQ(one.slots, 1u);
    EXPECT_EQ(one.lanes, offset == 0 ? workers_.reading_lanes : 1u);
  }
}

TEST_F(LayoutTest, GathersWhatIsNotAlignedAsItsType) {
  const auto gathers = [&](std::uint64_t offset, std::size_t element_bytes) {
    return choose_layout({}, DeviceKind::cpu, workers_, sparse(120, offset),
                         {.bytes = element_bytes})
        .gathers;
  };
  EXPECT_FALSE(gathers(8, 8));
  EXPECT_TRUE(gathers(4, 8));
  EXPECT_FALSE(gathers(4, 12));  // for example three floats
  EXPECT_TRUE(gathers(2, 12));
  EXPECT_FALSE(gathers(1, 3));
}

TEST_F(LayoutTest, RefusesWhatDoesNotFit) {
  try {
    choose_layout({.memory_bytes = 1000}, DeviceKind::cpu, workers_, sparse(8 * GiB), {.bytes = 1});
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_EQ(advice(error.details()), "raise Options::memory_bytes");
  }
}

TEST(Workers, AreAsManyAsAskedFor) {
  EXPECT_EQ(choose_workers({.streams = 3, .threads = 8}, DeviceKind::cuda).readers, 5u);
  for (const std::size_t threads : {1u, 2u, 5u, 16u}) {
    const Workers workers = choose_workers({.threads = threads}, DeviceKind::cpu);
    EXPECT_EQ(workers.lanes + workers.readers, std::max<std::size_t>(threads, 2));
    EXPECT_EQ(workers.reading_lanes, threads);
  }
}

}  // namespace
}  // namespace ooc
