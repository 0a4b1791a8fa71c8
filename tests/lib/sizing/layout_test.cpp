#include "sizing/layout.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include "io/expect_error.hpp"
#include "lib/sizing/layout_fixture.hpp"
#include "support/operators.hpp"

namespace ooc::detail {
namespace {

using test::LayoutTest;

constexpr DeviceFacts cpu_facts = facts_of(DeviceKind::cpu);

TEST_F(LayoutTest, OneThreadReadsWhatItComputes) {
  const Workers one = choose_workers({.threads = 1}, cpu_facts, 8);
  const SourceFacts source = on_disk(8 * GiB);
  const Layout alone = layout_for({.threads = 1}, DeviceKind::cpu, one, source, needs_of(1));
  EXPECT_TRUE(alone.reads_inline);
  EXPECT_EQ(alone.lanes, 1u);
  EXPECT_FALSE(alone.reads.direct);
  EXPECT_FALSE(alone.tuned_depth);
  EXPECT_EQ(alone.reasons.front().what, ReasonKind::buffered_reads);
  EXPECT_NE(alone.reasons.front().why.find("reads ahead"), std::string::npos);
  const Layout direct = layout_for({.threads = 1, .direct = DirectIo::yes}, DeviceKind::cpu, one,
                                   source, needs_of(1));
  EXPECT_TRUE(direct.reads_inline);
  EXPECT_TRUE(direct.reads.direct);
  EXPECT_FALSE(direct.tuned_depth);
  const Options four_streams{.streams = 4, .threads = 1};
  const Workers four = choose_workers(four_streams, cpu_facts, 8);
  EXPECT_FALSE(layout_for(four_streams, DeviceKind::cpu, four, source, needs_of(1)).reads_inline);
  const Workers two = choose_workers({.threads = 2}, cpu_facts, 8);
  EXPECT_FALSE(layout_for({.threads = 2}, DeviceKind::cpu, two, source, needs_of(1)).reads_inline);
}

TEST_F(LayoutTest, CutsChunksInWholeTiles) {
  for (const std::size_t element_bytes : {1u, 2u, 4u, 8u}) {
    for (const std::size_t chunk : {std::size_t{1}, 300'000 * std::size_t{1}, 5 * MiB}) {
      const Layout layout = layout_for({.chunk_bytes = chunk}, DeviceKind::cpu, on_disk(64 * MiB),
                                       needs_of(element_bytes));
      EXPECT_EQ(layout.chunk_bytes % (test::partition_elements * element_bytes), 0u);
      EXPECT_GE(layout.chunk_bytes, chunk);
    }
  }
}

TEST_F(LayoutTest, ReadsCachedPartsAndTheRestByTurns) {
  SourceFacts half = on_disk(64 * MiB);
  half.cached = 0.5;
  half.runs = {{32 * MiB, 1}, {32 * MiB, 0}};
  const Layout by_turns = layout_for({}, DeviceKind::cuda, half, needs_of(4));
  ASSERT_NE(by_turns.order, nullptr);
  EXPECT_TRUE(by_turns.order->is_cached(0));
  EXPECT_FALSE(by_turns.order->is_cached(by_turns.plan.size() - 1));
  const Layout in_order = layout_for({}, DeviceKind::cuda, half, needs_of(4, true));
  EXPECT_EQ(in_order.order, nullptr);
  EXPECT_EQ(by_turns.reasons.front(), (Reason{.what = ReasonKind::mixed_reads, .figures = {50}}));
  EXPECT_EQ(in_order.reasons.back(), Reason{ReasonKind::ordered_reads});
}

TEST_F(LayoutTest, ReadsByTurnsWhatTheDeviceDoesNotHave) {
  const SourceFacts source = on_disk(64 * MiB);
  StepNeeds needs = needs_of(4);
  needs.resident = 8 * MiB;  // half of the records
  const Layout half = layout_for({}, DeviceKind::cuda, source, needs);
  ASSERT_NE(half.order, nullptr);
  EXPECT_EQ(half.order->piece(0), 0u);
  EXPECT_TRUE(half.plan.is_resident(0));
  EXPECT_FALSE(half.plan.is_resident(1)) << "the second step is read";
  EXPECT_EQ(half.plan.pieces_per_step(), 1u);
  EXPECT_EQ(
      half.reasons,
      std::vector{(Reason{.what = ReasonKind::resident_input, .figures = {32 * MiB, 64 * MiB}})});
  StepNeeds less = needs;
  less.resident = 1;  // no whole step
  const Layout none = layout_for({}, DeviceKind::cuda, source, less);
  EXPECT_EQ(none.order, nullptr);
  EXPECT_TRUE(none.reasons.empty());
  StepNeeds cut = needs;
  cut.partition = 2 * MiB;
  const Layout in_pieces = layout_for({}, DeviceKind::cuda, source, cut);
  EXPECT_EQ(in_pieces.order, nullptr) << "steps have several pieces, which come in their order";
  EXPECT_GT(in_pieces.plan.pieces_per_step(), 1u);
  needs.in_order = true;
  const Layout in_order = layout_for({}, DeviceKind::cuda, source, needs);
  EXPECT_EQ(in_order.order, nullptr);
  EXPECT_TRUE(in_order.plan.is_resident(0));
  EXPECT_FALSE(in_order.plan.is_resident(in_order.plan.steps() - 1));
}

TEST_F(LayoutTest, NeedsNeitherSlotsNorBuffersForWhatTheDeviceHas) {
  StepNeeds needs = needs_of(4);
  needs.resident = 256 * MiB;
  const Layout all = layout_for({}, DeviceKind::cuda, on_disk(1024 * MiB), needs);
  EXPECT_EQ(all.order, nullptr);
  EXPECT_TRUE(all.plan.reads_nothing());
  EXPECT_EQ(all.slot_bytes, page_bytes);
  EXPECT_EQ(all.buffers.bytes(), 0u);
  EXPECT_EQ(all.slots_ahead, 0u);
  EXPECT_FALSE(all.tuned_depth);
  EXPECT_EQ(all.why_chunk, Reason{ReasonKind::chunk_for_kernels});
  EXPECT_EQ(all.chunk_bytes, 256 * MiB);
  needs.partition = 2 * MiB;  // of 8 MiB, each with a partial
  EXPECT_LT(layout_for({}, DeviceKind::cuda, on_disk(1024 * MiB), needs).chunk_bytes, 64 * MiB);
  needs.partition = needs_of(4).partition;
  const Layout on_cpu = layout_for({}, DeviceKind::cpu, on_disk(1024 * MiB), needs);
  EXPECT_LT(on_cpu.chunk_bytes, 64 * MiB) << "which fits the cache of a core";
}

TEST_F(LayoutTest, HasLargerChunksWhereAStepOfAnOutputWaitsForTheOneBefore) {
  const SourceFacts source = on_disk(64 * MiB);
  const OutputFacts output{.record_bytes = 4};
  StepNeeds needs = needs_of(4, true);
  needs.waits = true;
  const Layout layout = layout_for({}, DeviceKind::cuda, source, needs, output);
  EXPECT_EQ(layout.lanes, 3u);
  EXPECT_EQ(layout.why_lanes, ReasonKind::three_streams);
  EXPECT_EQ(layout_for({}, DeviceKind::cuda, source, needs).lanes, 3u) << "a fold";
  EXPECT_EQ(layout_for({.streams = 2}, DeviceKind::cuda, source, needs, output).lanes, 2u);
  SourceFacts cached = source;
  cached.cached = 1;
  const auto chunk_of = [&](const Options& options) {
    return layout_for(options, DeviceKind::cuda, cached, needs, output).chunk_bytes;
  };
  EXPECT_EQ(chunk_of({}), 16 * MiB);
  EXPECT_EQ(chunk_of({.chunk_bytes = 2 * MiB}), 2 * MiB);
  needs.waits = false;
  EXPECT_EQ(chunk_of({}), 8 * MiB) << "a map";
  EXPECT_EQ(layout_for({}, DeviceKind::cuda, source, needs, output).lanes, 3u);
}

TEST_F(LayoutTest, AStepThatIsLentHasABufferOfItsOwn) {
  StepNeeds needs = needs_of(4);
  const SourceFacts source = on_disk(64 * MiB);
  const Layout folds = layout_for({}, DeviceKind::cuda, source, needs);
  needs.lending = Lending{.step_records = 1000};
  const Layout lends = layout_for({}, DeviceKind::cuda, source, needs);
  EXPECT_EQ(lends.plan.step(0).count, 1000u);
  EXPECT_EQ(lends.order, nullptr);
  EXPECT_EQ(lends.buffers.inputs, 1u);
  EXPECT_EQ(lends.lanes, 4u);
  needs.lending->shuffle_seed = 1;
  const Layout shuffled = layout_for({}, DeviceKind::cuda, source, needs);
  ASSERT_NE(shuffled.order, nullptr);
  EXPECT_FALSE(shuffled.reads_by_turns());
  EXPECT_EQ(shuffled.plan.bytes(), 64 * MiB);
  needs.lending->step_records = 1;
  test::expect_error(ErrorKind::usage, "68,719,476,736 chunks are too many",
                     [&] { layout_for({}, DeviceKind::cuda, on_disk(256 * GiB), needs); });
}

TEST_F(LayoutTest, ReadsAheadWhileADeviceStartsAsFarAsMemoryAllows) {
  Facts facts{.device = facts_of(DeviceKind::cuda), .source = on_disk(8 * GiB)};
  const auto ahead = [&](std::uint64_t host_bytes) {
    facts.host_bytes = host_bytes;
    Wishes wishes;
    wishes.workers = workers_;
    return choose_layout(facts, wishes).slots_ahead;
  };
  EXPECT_EQ(ahead(64 * GiB), 0u);
  facts.device_starts = true;
  const std::size_t slots = ahead(64 * GiB);
  EXPECT_GE(slots * MiB, 256 * MiB);
  EXPECT_LT(ahead(2 * GiB), slots);
  EXPECT_EQ(ahead(64 * MiB), 0u);  // fewer than the pass needs anyway
}

TEST_F(LayoutTest, NeedsNoMoreSlotsThanThereAreChunks) {
  EXPECT_EQ(layout_for({}, DeviceKind::cpu, on_disk(1 * MiB), needs_of(1)).slots, 2u);
  EXPECT_EQ(layout_for({}, DeviceKind::cpu, on_disk(100), needs_of(1)).slots, 1u);
  EXPECT_EQ(layout_for({}, DeviceKind::cpu, on_disk(0), needs_of(1)).slots, 1u);
}

TEST_F(LayoutTest, KeepsToTheLimits) {
  for (const std::size_t limit : {512 * KiB, 2 * MiB, 8 * MiB, 64 * MiB}) {
    const Layout layout =
        layout_for({.memory_bytes = limit}, DeviceKind::cuda, on_disk(8 * GiB), needs_of(1));
    EXPECT_LE(layout.slots * layout.slot_bytes, limit);
    EXPECT_GE(layout.slots, 2u);
    EXPECT_LE(layout.reads.queue_depth * layout.reads.block_bytes, limit);
    EXPECT_LE(layout.reads.threads, layout.reads.queue_depth);
    const Layout small =
        layout_for({.device_bytes = limit}, DeviceKind::cuda, on_disk(8 * GiB), needs_of(1));
    // Two buffers for each lane, and as much again for memory of operators.
    EXPECT_LE(4 * workers_.lanes * small.chunk_bytes, limit);
  }
}

TEST_F(LayoutTest, CountsTheMemoryOfGatheringLanes) {
  const Options options{.chunk_bytes = 1 * MiB, .memory_bytes = 4 * MiB};
  const Layout aligned = layout_for(options, DeviceKind::cpu, on_disk(8 * GiB, 4), needs_of(4));
  const Layout odd = layout_for(options, DeviceKind::cpu, on_disk(8 * GiB, 3), needs_of(4));
  EXPECT_FALSE(aligned.gathers);
  EXPECT_TRUE(odd.gathers);
  EXPECT_LE(odd.slots * odd.slot_bytes + workers_.lanes * odd.chunk_bytes, 4 * MiB);
}

TEST_F(LayoutTest, HasAsManyLanesThatLoadTheirOwnChunksAsThereIsRoomFor) {
  for (const std::uint64_t offset : {0u, 1u}) {  // lanes gather at offset 1
    SourceFacts source = on_disk(2 * MiB, offset);
    source.cached = 1;
    const auto lanes = [&](std::size_t memory_bytes) {
      const Layout layout = layout_for({.chunk_bytes = 256 * KiB, .memory_bytes = memory_bytes},
                                       DeviceKind::cpu, source, needs_of(4));
      EXPECT_TRUE(layout.reads_inline);
      EXPECT_EQ(layout.gathers, offset != 0);
      EXPECT_EQ(layout.slots, layout.lanes);
      EXPECT_LE(layout.lanes * layout.slot_bytes + layout.buffer_bytes(), memory_bytes);
      EXPECT_EQ(layout.buffer_bytes(), offset == 0 ? 0 : layout.lanes * 256 * KiB);
      return layout.lanes;
    };
    EXPECT_EQ(lanes(16 * MiB), workers_.reading_lanes);
    EXPECT_EQ(lanes(1 * MiB + 512 * KiB), offset == 0 ? 5u : 2u);
    EXPECT_EQ(lanes(600 * KiB), offset == 0 ? 2u : 1u);
    EXPECT_THROW(lanes(200 * KiB), Error);
    // The source is one chunk here, in one slot, and each lane gathers in a buffer of 2 MiB.
    const Layout one = layout_for({.chunk_bytes = 4 * MiB, .memory_bytes = 8 * MiB},
                                  DeviceKind::cpu, source, needs_of(4));
    EXPECT_EQ(one.slots, 1u);
    EXPECT_EQ(one.lanes, offset == 0 ? workers_.reading_lanes : 2u);
  }
}

TEST_F(LayoutTest, GathersWhatIsNotAlignedAsItsType) {
  const auto gathers = [&](std::uint64_t offset, std::size_t element_bytes) {
    return layout_for({}, DeviceKind::cpu, on_disk(120, offset), needs_of(element_bytes)).gathers;
  };
  EXPECT_FALSE(gathers(8, 8));
  EXPECT_TRUE(gathers(4, 8));
  EXPECT_FALSE(gathers(4, 12));  // for example three floats
  EXPECT_TRUE(gathers(2, 12));
  EXPECT_FALSE(gathers(1, 3));
}

TEST_F(LayoutTest, RefusesWhatDoesNotFit) {
  try {
    layout_for({.memory_bytes = 1000}, DeviceKind::cpu, on_disk(8 * GiB), needs_of(1));
    FAIL() << "a pool of less than a tile";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_EQ(advice(error.details()), "raise Options::memory_bytes to at least 73728");
  }
}

TEST_F(LayoutTest, SaysWhyAChunkHasItsSize) {
  const StepNeeds needs = needs_of(4);
  const auto why = [&](const Options& options, DeviceKind device, bool cached = false) {
    SourceFacts source = on_disk(8 * GiB);
    source.cached = cached ? 1 : 0;
    return layout_for(options, device, source, needs).why_chunk;
  };
  EXPECT_EQ(why({}, DeviceKind::cpu), Reason{ReasonKind::chunk_for_core});
  EXPECT_EQ(why({}, DeviceKind::cuda), Reason{ReasonKind::chunk_for_disk});
  EXPECT_EQ(why({}, DeviceKind::cuda, true), Reason{ReasonKind::chunk_for_link});
  EXPECT_EQ(why({.memory_bytes = 8 * MiB}, DeviceKind::cuda, true),
            Reason{ReasonKind::chunk_within_limits});
  const std::uint64_t elements = needs.partition;
  EXPECT_EQ(why({.chunk_bytes = MiB}, DeviceKind::cpu),
            (Reason{.what = ReasonKind::chunk_as_asked, .figures = {elements}}));
  EXPECT_EQ(why({.chunk_bytes = 1}, DeviceKind::cpu),
            (Reason{.what = ReasonKind::chunk_at_least, .figures = {elements}}));
}

TEST_F(LayoutTest, SaysThatTheInputIsInThePageCache) {
  SourceFacts source = on_disk(8 * GiB);
  source.cached = 1;
  EXPECT_EQ(layout_for({}, DeviceKind::cpu, source, needs_of(4)).reasons,
            (std::vector{Reason{.what = ReasonKind::cached_reads, .figures = {100}}}));
}

TEST_F(LayoutTest, SaysThatTheLimitLeavesRoomForFewerStreams) {
  SourceFacts source = on_disk(8 * GiB);
  source.cached = 1;
  const Workers six = choose_workers({}, cpu_facts, 6);
  const auto why = [&](const Options& options) {
    return layout_for(options, DeviceKind::cpu, six, source, needs_of(4)).why_lanes;
  };
  EXPECT_EQ(why({}), ReasonKind::stream_per_core);
  EXPECT_EQ(why({.chunk_bytes = MiB, .memory_bytes = 3 * MiB}), ReasonKind::streams_within_limits);
}

TEST(Workers, AllCoresDecode) {
  EXPECT_EQ(choose_workers({}, facts_of(DeviceKind::cuda), 16).decoders, 16u);
  EXPECT_EQ(choose_workers({.threads = 6}, facts_of(DeviceKind::cuda), 16).decoders, 4u);
  EXPECT_EQ(choose_workers({}, cpu_facts, 16).decoders, 16u);
}

TEST(Workers, AreAsManyAsAskedFor) {
  EXPECT_EQ(choose_workers({.streams = 3, .threads = 8}, facts_of(DeviceKind::cuda), 16).readers,
            5u);
  for (const std::size_t threads : {1u, 2u, 5u, 16u}) {
    const Workers workers = choose_workers({.threads = threads}, cpu_facts, 16);
    EXPECT_EQ(workers.lanes + workers.readers, std::max<std::size_t>(threads, 2));
    EXPECT_EQ(workers.reading_lanes, threads);
    EXPECT_EQ(workers.why_lanes, ReasonKind::stream_per_two_threads);
    EXPECT_EQ(workers.why_reading_lanes, ReasonKind::stream_per_thread);
  }
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    EXPECT_EQ(choose_workers({.streams = 3}, facts_of(device), 16).why_lanes,
              ReasonKind::streams_as_asked);
  }
  EXPECT_EQ(choose_workers({}, facts_of(DeviceKind::cuda), 16).why_lanes, ReasonKind::two_streams);
}

TEST_F(LayoutTest, CutsSeveralInputsBySteps) {
  SourceFacts zipped = on_disk(64 * MiB);
  zipped.inputs.push_back({StorageMap({{0, 0, 16 * MiB}}), 1});
  StepNeeds needs = needs_of(4);
  needs.inputs.emplace_back(1);
  const Layout layout = layout_for({}, DeviceKind::cuda, zipped, needs);
  EXPECT_EQ(layout.plan.records(), 16 * MiB);
  EXPECT_EQ(layout.chunk_bytes % (65536 * 5), 0u);
  EXPECT_FALSE(layout.gathers);
  // Each input begins at an aligned place in the buffer of a step.
  EXPECT_EQ(place_in_step(layout.plan, 0), 0u);
  EXPECT_EQ(place_in_step(layout.plan, 1), layout.plan.max_step_bytes(0));
  EXPECT_EQ(layout.buffers.step, layout.plan.max_step_bytes(0) + layout.plan.max_step_bytes(1));
  needs.inputs = {3, 1};
  needs.partition = 1;
  zipped.inputs = {{StorageMap({{0, 0, 300}})}, {StorageMap({{0, 0, 100}}), 1}};
  const Layout small = layout_for({}, DeviceKind::cuda, zipped, needs);
  EXPECT_EQ(place_in_step(small.plan, 1), 512u);
}

TEST_F(LayoutTest, HasOneBufferForDecodedStructs) {
  SourceFacts zipped = on_disk(30 * MiB);
  zipped.inputs.push_back({StorageMap({{0, 0, 30 * MiB}}), 1});
  zipped.inputs.push_back({StorageMap({{0, 0, 30 * MiB}}), 2});
  StepNeeds needs;
  needs.inputs = {{10, 1}, {10, 2}, {10, 1}};
  needs.partition = 1000;
  const Layout plain = layout_for({}, DeviceKind::cuda, zipped, needs);
  EXPECT_EQ(plain.buffers.decoded, 0u);
  needs.decoded = {5, 0, 40};
  for (const DeviceKind device : {DeviceKind::cpu, DeviceKind::cuda}) {
    const Layout layout = layout_for({.chunk_bytes = 1}, device, zipped, needs);
    const std::size_t records = layout.plan.max_step_bytes(0) / 10;
    EXPECT_EQ(records, 1000u);
    EXPECT_EQ(decoded_place(layout.plan, needs.decoded, 0), 0u);
    EXPECT_EQ(decoded_place(layout.plan, needs.decoded, 2), 5120u);  // a multiple of 256
    EXPECT_EQ(layout.buffers.decoded, 5120u + 40'192u);
    const LaneBuffers& buffers = layout.buffers;
    EXPECT_EQ(buffers.bytes(), buffers.inputs * buffers.step + buffers.decoded);
  }
  // With a limit of memory there is room for it.
  const auto chunk = [&](const StepNeeds& of) {
    return layout_for({.device_bytes = 64 * MiB}, DeviceKind::cuda, zipped, of).chunk_bytes;
  };
  const std::size_t decoded = chunk(needs);
  needs.decoded = {};
  EXPECT_LT(decoded, chunk(needs));
}

// The margin of two steps is read twice.
TEST_F(LayoutTest, ChunksAreLargeBesideTheirMargin) {
  StepNeeds needs = needs_of(4, true);
  const std::size_t usual = layout_for({}, DeviceKind::cuda, on_disk(8 * GiB), needs).chunk_bytes;
  needs.margin = {100, 100};
  const Layout same = layout_for({}, DeviceKind::cuda, on_disk(8 * GiB), needs);
  EXPECT_EQ(same.chunk_bytes, usual);
  EXPECT_EQ(same.why_chunk.what, ReasonKind::chunk_for_disk);
  needs.margin = {20'000, 30'000};
  const Layout layout = layout_for({}, DeviceKind::cuda, on_disk(8 * GiB), needs);
  EXPECT_GE(layout.chunk_bytes, 50u * 4 * 50'000);
  EXPECT_EQ(layout.why_chunk.what, ReasonKind::chunk_for_margin);
  EXPECT_GE(layout.slot_bytes, layout.plan.max_bytes());
  const Layout limited =
      layout_for({.memory_bytes = 32 * MiB}, DeviceKind::cuda, on_disk(8 * GiB), needs);
  EXPECT_LT(limited.chunk_bytes, layout.chunk_bytes);
  EXPECT_EQ(limited.why_chunk.what, ReasonKind::chunk_within_limits);
}

TEST_F(LayoutTest, LongRecordsTakeHalfOfTheAvailableMemoryAtMost) {
  StepNeeds needs = needs_of(1 * GiB);
  needs.partition = 1;
  Facts facts{.device = facts_of(DeviceKind::cuda), .source = on_disk(64 * GiB)};
  Wishes wishes;
  wishes.workers = workers_;
  wishes.needs = needs;
  EXPECT_GT(choose_layout(facts, wishes).all_slots(), 3u);
  facts.host_bytes = 7 * GiB;
  const Layout layout = choose_layout(facts, wishes);
  EXPECT_EQ(layout.all_slots(), 3u);
  facts.host_bytes = 1 * GiB;
  test::expect_error(ErrorKind::memory, "half of the available memory",
                     [&] { choose_layout(facts, wishes); });
}

}  // namespace
}  // namespace ooc::detail
