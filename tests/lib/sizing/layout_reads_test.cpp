#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "io/expect_error.hpp"
#include "lib/sizing/layout_fixture.hpp"
#include "sizing/layout.hpp"

// Tests how a layout reads the disk: directly or not, with how many requests of which size.

namespace ooc::detail {
namespace {

using test::LayoutTest;

TEST_F(LayoutTest, CountsTheMemoryOfTheOperation) {
  StepNeeds needs = needs_of(4);
  needs.memory = {.fixed = 24 * MiB, .per_lane = 4 * MiB};
  const auto with = [&](std::size_t bytes) {
    return layout_for({.memory_bytes = bytes}, DeviceKind::cpu, on_disk(8 * GiB), needs);
  };
  const Layout layout = with(64 * MiB);
  EXPECT_LE(layout.most_slots * layout.slot_bytes + 24 * MiB + layout.lanes * 4 * MiB, 64 * MiB);
  std::size_t enough = 0;
  try {
    with(16 * MiB);
    FAIL() << "less than the results take";
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(error.details().why.find("the results take 25165824 bytes"), std::string::npos);
    enough = std::stoull(error.details().remedies.front().value);
  }
  EXPECT_EQ(with(enough).lanes, 1u);
  EXPECT_THROW(with(enough - 1), Error);
}

TEST_F(LayoutTest, ReadsADiskThroughASmallPool) {
  const Layout layout = layout_for({}, DeviceKind::cuda, on_disk(1024 * GiB), needs_of(4));
  ASSERT_TRUE(layout.reads.direct) << layout.reasons.front().why;
  EXPECT_LE(layout.slots * layout.slot_bytes, 20 * MiB);
  EXPECT_GE(layout.reads.queue_depth * layout.reads.block_bytes, 4 * MiB);
  EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, layout.slots * layout.slot_bytes);
}

TEST_F(LayoutTest, ChunksAndRequestsAreAsLongAsThePiecesThatAreDecoded) {
  SourceFacts source = on_disk(8 * GiB);
  source.needs_threads = source.decodes = true;
  source.not_direct = NotDirect{"its pieces are decoded", {ErrorKind::usage, "not direct"}};
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    source.piece_bytes = 16 * MiB;
    const Layout layout = layout_for({}, device, source, needs_of(4));
    EXPECT_EQ(layout.chunk_bytes, 16 * MiB);
    EXPECT_EQ(layout.why_chunk, Reason{ReasonKind::chunk_for_pieces});
    EXPECT_EQ(layout.reads.block_bytes, 16 * MiB);
    EXPECT_EQ(layout.reads_inline, device == DeviceKind::cpu);
    EXPECT_EQ(layout.reads.threads, workers_.decoders);
    EXPECT_EQ(layout.reads.queue_depth, workers_.decoders + 2);
    EXPECT_GE(layout.slots, layout.reads_inline ? layout.lanes : workers_.decoders + 2);
    EXPECT_EQ(layout_for({.chunk_bytes = MiB}, device, source, needs_of(4)).chunk_bytes, MiB);
    source.piece_bytes = 200 * MiB;
    EXPECT_EQ(layout_for({}, device, source, needs_of(4)).chunk_bytes, 32 * MiB);
    source.piece_bytes = 64 * KiB;
    const Layout many = layout_for({}, device, source, needs_of(4));
    EXPECT_NE(many.why_chunk, Reason{ReasonKind::chunk_for_pieces}) << "a chunk has many of them";
    EXPECT_EQ(many.reads.block_bytes, 1 * MiB);
  }
  source.piece_bytes = 16 * MiB;
  const Workers one = choose_workers({.threads = 1}, facts_of(DeviceKind::cpu), 8);
  const Layout alone = layout_for({.threads = 1}, DeviceKind::cpu, one, source, needs_of(4));
  EXPECT_EQ(alone.chunk_bytes, 16 * MiB);
  EXPECT_TRUE(alone.reads_inline);
}

TEST_F(LayoutTest, CountsThePiecesThatStayDecoded) {
  SourceFacts source = on_disk(8 * GiB);
  source.needs_threads = source.decodes = true;
  source.not_direct = NotDirect{"its pieces are decoded", {ErrorKind::usage, "not direct"}};
  source.piece_bytes = 16 * MiB;
  source.kept_bytes = 128 * MiB;
  const auto with = [&](std::size_t bytes, std::size_t chunk = 0) {
    const Options options{.chunk_bytes = chunk, .memory_bytes = bytes};
    return layout_for(options, DeviceKind::cpu, source, needs_of(4));
  };
  EXPECT_EQ(with(145 * MiB, 32 * MiB).lanes, 4u) << "chunks end with pieces, but perhaps the last";
  EXPECT_THROW(with(129 * MiB, 8 * MiB), Error);
  EXPECT_EQ(with(145 * MiB, 8 * MiB).lanes, 2u);
  source.is_regular = false;
  test::expect_error(ErrorKind::memory, "the pass needs at least 1677",
                     [&] { with(129 * MiB, 32 * MiB); });
  EXPECT_EQ(with(161 * MiB, 32 * MiB).lanes, 1u);
}

TEST_F(LayoutTest, LeavesRoomForMoreReadsOfALargeInput) {
  const Layout layout = layout_for({}, DeviceKind::cuda, on_disk(8 * GiB), needs_of(4));
  ASSERT_TRUE(layout.tuned_depth);
  EXPECT_LT(layout.tuned_depth->least, layout.reads.queue_depth);
  EXPECT_GT(layout.tuned_depth->most, layout.reads.queue_depth);
  EXPECT_GT(layout.most_slots, layout.slots);
  EXPECT_GE(layout.most_slots * layout.chunk_bytes,
            layout.tuned_depth->most * layout.reads.block_bytes);
}

TEST_F(LayoutTest, BeginsWithAsManyReadsAsWereBestBefore) {
  const Layout known_nothing = layout_for({}, DeviceKind::cuda, on_disk(8 * GiB), needs_of(4));
  const auto slots_of = [](const Layout& layout) {
    return divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  for (const std::size_t depth : {1u, 7u, 16u, 31u, 1000u}) {
    Wishes wishes;
    wishes.workers = workers_;
    wishes.needs = needs_of(4);
    wishes.best_depth = depth;
    const Layout layout =
        choose_layout({.device = facts_of(DeviceKind::cuda), .source = on_disk(8 * GiB)}, wishes);
    EXPECT_EQ(layout.reads.queue_depth,
              std::clamp<std::size_t>(depth, layout.tuned_depth->least, layout.tuned_depth->most));
    EXPECT_EQ(layout.tuned_depth->first, known_nothing.reads.queue_depth);
    EXPECT_EQ(layout.slots - slots_of(layout), known_nothing.slots - slots_of(known_nothing));
    EXPECT_LE(layout.slots, layout.most_slots);
  }
}

TEST_F(LayoutTest, ReadsOfADiskGoRoundInLittleMoreThanIsInFlight) {
  const auto beyond_flight = [&](const Options& options) {
    const Layout layout = layout_for(options, DeviceKind::cuda, on_disk(8 * GiB), needs_of(4));
    return layout.slots -
           divide_up(layout.reads.queue_depth * layout.reads.block_bytes, layout.chunk_bytes);
  };
  EXPECT_EQ(beyond_flight({}), workers_.lanes + 2) << "three lanes";
  EXPECT_GT(beyond_flight({.direct = DirectIo::no}), workers_.lanes + 2);
}

// Applies where io_uring is missing: with fewer threads than reads the disk would not be kept busy.
TEST_F(LayoutTest, AsksAServerForLargePiecesManyAtATime) {
  SourceFacts source = on_disk(4 * GiB);
  source.server = "https://example.org";
  source.any_direct = false;
  source.cached = 0.5;  // of files beside it, which must not choose another engine
  source.runs = {{2 * GiB, 1}, {2 * GiB, 0}};
  source.not_direct = NotDirect{"it is on a server", {ErrorKind::usage, "it is on a server"}};
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    const Layout layout = layout_for({}, kind, source, needs_of(4));
    EXPECT_EQ(layout.reads.engine, EngineKind::http);
    EXPECT_FALSE(layout.reads.direct);
    EXPECT_FALSE(layout.reads_inline);
    EXPECT_EQ(layout.reads.block_bytes, 8 * MiB);
    EXPECT_EQ(layout.chunk_bytes, 8 * MiB);
    ASSERT_TRUE(layout.tuned_depth);
    EXPECT_EQ(layout.tuned_depth->first, 16u);
    EXPECT_EQ(layout.reasons.front(), (Reason{ReasonKind::remote_reads, "https://example.org"}));
  }
  for (const EngineKind engine : {EngineKind::threads, EngineKind::uring}) {
    test::expect_error(ErrorKind::usage, "server", [&] {
      layout_for({.engine = engine}, DeviceKind::cpu, source, needs_of(4));
    });
  }
}

TEST_F(LayoutTest, HasAThreadForEachReadOfADiskInFlight) {
  const auto threads_of = [&](const Options& options) {
    const IoConfig& reads =
        layout_for(options, DeviceKind::cuda, on_disk(8 * GiB), needs_of(4)).reads;
    EXPECT_LE(reads.threads, reads.queue_depth);
    return reads.threads;
  };
  EXPECT_EQ(threads_of({}), 16u);
  EXPECT_EQ(threads_of({.queue_depth = 3}), 3u);
  EXPECT_EQ(threads_of({.threads = 4}), workers_.readers);
  EXPECT_EQ(threads_of({.direct = DirectIo::no}), workers_.readers);
}

TEST_F(LayoutTest, RefusesDirectReadsOfManySmallFiles) {
  std::vector<Extent> extents;
  for (std::uint32_t file = 0; file < 100; ++file) extents.push_back({file, 0, 2 * page_bytes});
  const SourceFacts source{.inputs = {{extents}}};
  const auto layout_with = [&](DirectIo direct) {
    return layout_for({.direct = direct}, DeviceKind::cuda, source, needs_of(1));
  };
  EXPECT_FALSE(layout_with(DirectIo::automatic).reads.direct);
  test::expect_error(ErrorKind::usage, "lies in 100 pieces", [&] { layout_with(DirectIo::yes); });
}

// The blocks around 512 pieces of 64 KiB are an eighth of a chunk of 32 MiB.
TEST_F(LayoutTest, ReadsDirectlyWhatTheBlocksAroundPiecesAreFewFor) {
  const auto is_direct = [&](std::uint64_t piece_bytes, std::uint64_t gap) {
    std::vector<Extent> extents;
    for (std::uint64_t i = 0; i < 64 * MiB / piece_bytes; ++i) {
      extents.push_back({0, i * (piece_bytes + gap), piece_bytes});
    }
    std::ranges::reverse(extents);
    const SourceFacts source{.inputs = {{extents}}};
    return layout_for({.chunk_bytes = 32 * MiB}, DeviceKind::cuda, source, needs_of(1))
        .reads.direct;
  };
  EXPECT_TRUE(is_direct(64 * KiB, 1));
  EXPECT_FALSE(is_direct(32 * KiB, 1));
  EXPECT_TRUE(is_direct(KiB, 0)) << "neighbours are one";
}

TEST_F(LayoutTest, ReadsThroughThePageCacheWhatCannotBeReadDirectly) {
  SourceFacts source = on_disk(8 * GiB);
  source.not_direct = NotDirect{"tmpfs has no disk under it", {ErrorKind::usage, "not possible"}};
  const Layout layout = layout_for({}, DeviceKind::cuda, source, needs_of(1));
  EXPECT_FALSE(layout.reads.direct);
  EXPECT_EQ(layout.reasons.front(),
            (Reason{ReasonKind::buffered_reads, "tmpfs has no disk under it"}));
  test::expect_error(ErrorKind::usage, "not possible", [&] {
    layout_for({.direct = DirectIo::yes}, DeviceKind::cuda, source, needs_of(1));
  });
}

TEST_F(LayoutTest, KeepsToTheReadsThatTheUserHasFixed) {
  const auto is_fixed = [&](const Options& options, std::uint64_t bytes) {
    const Layout layout = layout_for(options, DeviceKind::cuda, on_disk(bytes), needs_of(4));
    return !layout.tuned_depth && layout.most_slots == layout.slots;
  };
  EXPECT_FALSE(is_fixed({}, 8 * GiB));
  EXPECT_TRUE(is_fixed({}, 512 * MiB));  // too short to tune
  EXPECT_TRUE(is_fixed({.block_bytes = MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.queue_depth = 24}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.memory_bytes = 20 * MiB}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.threads = 4, .engine = EngineKind::threads}, 8 * GiB));
  EXPECT_TRUE(is_fixed({.direct = DirectIo::no}, 8 * GiB));
}

TEST_F(LayoutTest, FillsTheLinkFromThePageCache) {
  const Layout layout =
      layout_for({.direct = DirectIo::no}, DeviceKind::cuda, on_disk(8 * GiB), needs_of(4));
  EXPECT_EQ(layout.reads.engine, EngineKind::threads);
  EXPECT_GE(layout.chunk_bytes, 8 * MiB);
}

TEST_F(LayoutTest, TunesTheReadsIfTheLimitHasJustRoomForIt) {
  const auto layout_within = [&](std::size_t memory_bytes) {
    return layout_for({.chunk_bytes = MiB, .memory_bytes = memory_bytes}, DeviceKind::cuda,
                      on_disk(8 * GiB), needs_of(1));
  };
  const Layout ample = layout_within(GiB);
  ASSERT_TRUE(ample.tuned_depth);
  const std::size_t needed = ample.most_slots * ample.slot_bytes;
  EXPECT_TRUE(layout_within(needed).tuned_depth);
  EXPECT_EQ(layout_within(needed).most_slots, ample.most_slots);
  EXPECT_FALSE(layout_within(needed - 1).tuned_depth);
}

TEST_F(LayoutTest, LargeBlocksLeaveRequestsToStart) {
  const Layout layout = layout_for({.chunk_bytes = 64 * MiB, .block_bytes = 64 * MiB},
                                   DeviceKind::cpu, on_disk(1 * GiB), needs_of(1));
  EXPECT_GE(layout.reads.queue_depth, 1u);
}

}  // namespace
}  // namespace ooc::detail
