#include <gtest/gtest.h>

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/pool/plan.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "io/expect_error.hpp"
#include "support/inputs_of.hpp"

namespace ooc::detail {
namespace {

std::vector<Extent> extents_in(const SequentialPlan& plan, std::size_t chunk) {
  std::vector<Extent> storage(plan.max_extents());
  const auto extents = plan.extents(chunk, storage);
  return {extents.begin(), extents.end()};
}

TEST(Plan, CutsOneFile) {
  const std::vector<Extent> file{{0, 100, 25}};
  const SequentialPlan plan(file, 10);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan.bytes(), 25u);
  EXPECT_EQ(plan.max_extents(), 1u);
  EXPECT_EQ(extents_in(plan, 0), (std::vector<Extent>{{0, 100, 10}}));
  EXPECT_EQ(extents_in(plan, 2), (std::vector<Extent>{{0, 120, 5}}));
  EXPECT_EQ(plan.chunk(2).first, 20u);
  EXPECT_EQ(plan.bytes(2), 5u);
}

TEST(Plan, ChunksRunAcrossFiles) {
  const std::vector<Extent> files{{0, 0, 6}, {1, 5, 0}, {1, 5, 3}, {2, 1, 11}};
  const SequentialPlan plan(files, 10);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan.max_extents(), 3u);
  EXPECT_EQ(extents_in(plan, 0), (std::vector<Extent>{{0, 0, 6}, {1, 5, 3}, {2, 1, 1}}));
  EXPECT_EQ(extents_in(plan, 1), (std::vector<Extent>{{2, 2, 10}}));
}

TEST(Plan, CountsNeighboursInAnyOrderAsOneRun) {
  // The first chunk has three neighbours and a piece by itself, the second one two pieces.
  const std::vector<Extent> pieces{{0, 10, 10}, {1, 0, 10},  {0, 20, 10},
                                   {0, 0, 10},  {0, 50, 20}, {0, 80, 20}};
  const SequentialPlan plan(pieces, 40);
  EXPECT_EQ(plan.max_extents(), 4u);
  EXPECT_EQ(plan.max_runs(), 2u);
  const SequentialPlan in_halves(pieces, 20);
  EXPECT_EQ(in_halves.max_extents(), 2u);
  EXPECT_EQ(in_halves.max_runs(), 2u);
}

TEST(Plan, CountsPiecesOfTwoFilesAsTwoRuns) {
  const std::vector<Extent> pieces{{0, 0, 10}, {1, 10, 10}};
  EXPECT_EQ(SequentialPlan(pieces, 20).max_runs(), 2u);
}

TEST(Plan, CountsTheRunsThatAMarginAdds) {
  const std::vector<Extent> pieces{{0, 0, 10}, {1, 0, 10}, {0, 10, 10}, {1, 10, 10}};
  const auto plan_with = [&](std::uint64_t before, std::uint64_t after) {
    return SequentialPlan({{pieces}}, {.chunk_records = 10, .before = before, .after = after});
  };
  EXPECT_EQ(plan_with(0, 0).max_extents(), 1u);
  EXPECT_EQ(plan_with(1, 0).max_extents(), 2u);
  EXPECT_EQ(plan_with(1, 0).max_runs(), 2u);
  EXPECT_EQ(plan_with(1, 1).max_extents(), 3u);
  EXPECT_EQ(plan_with(1, 10).max_extents(), 3u);
  EXPECT_EQ(plan_with(1, 10).max_runs(), 2u) << "the end of the first one and the third are one";
}

TEST(Plan, OfNothingHasNoChunks) {
  const std::vector<Extent> empty{{0, 0, 0}};
  EXPECT_EQ(SequentialPlan({}, 10).size(), 0u);
  EXPECT_EQ(SequentialPlan(empty, 10).size(), 0u);
  EXPECT_EQ(SequentialPlan(empty, 10).bytes(), 0u);
  EXPECT_EQ(SequentialPlan(empty, 10).max_extents(), 0u);
  EXPECT_EQ(SequentialPlan(empty, 10).max_runs(), 0u);
}

TEST(Plan, WithoutInputsHasRecordsAndNoExtents) {
  const SequentialPlan plan({}, {.chunk_records = 10, .record_bytes = {}, .records = 25});
  EXPECT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan.records(), 25u);
  EXPECT_EQ(plan.bytes(), 0u);
  EXPECT_EQ(plan.max_extents(), 0u);
  EXPECT_EQ(plan.step(2).first, 20u);
  EXPECT_EQ(plan.step(2).count, 5u);
  EXPECT_TRUE(plan.extents(2, {}).empty());
}

TEST(Plan, NumbersTheFilesOfAllInputs) {
  const SequentialPlan plan({{StorageMap({{0, 0, 20}})}, {StorageMap({{0, 5, 10}}), 1}},
                            {.chunk_records = 10, .record_bytes = {2, 1}});
  EXPECT_EQ(extents_in(plan, 0), (std::vector<Extent>{{0, 0, 20}, {1, 5, 10, false, 1}}));
}

TEST(Plan, RefusesChunksOfNothing) {
  test::expect_error(ErrorKind::usage, "at least one record", [] { SequentialPlan({}, 0); });
}

TEST(Plan, IsQuickForAnExabyte) {
  const std::vector<Extent> files{{0, 0, std::uint64_t{1} << 60}, {1, 0, 5}};
  const SequentialPlan plan(files, 1 << 20);
  EXPECT_EQ(plan.size(), (std::size_t{1} << 40) + 1);
  EXPECT_EQ(plan.max_extents(), 1u);
  EXPECT_EQ(extents_in(plan, std::size_t{1} << 40), (std::vector<Extent>{{1, 0, 5}}));
}

std::vector<std::size_t> pieces_of(const ChunkOrder& order) {
  std::vector<std::size_t> pieces;
  for (std::size_t k = 0; k < order.size(); ++k) pieces.push_back(order.piece(k));
  return pieces;
}

TEST(ChunkOrder, TakesTurnsInProportion) {
  const auto halves = ChunkOrder::by_turns({true, true, true, true, false, false, false, false});
  EXPECT_EQ(pieces_of(halves), (std::vector<std::size_t>{0, 4, 1, 5, 2, 6, 3, 7}));
  const auto thirds = ChunkOrder::by_turns({false, true, true, false, true, true});
  EXPECT_EQ(pieces_of(thirds), (std::vector<std::size_t>{1, 2, 0, 4, 5, 3}));
}

TEST(ChunkOrder, OfOneKindIsTheOrderOfTheSequence) {
  const std::vector<std::size_t> straight{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(pieces_of(ChunkOrder::by_turns(std::vector<bool>(10, true))), straight);
  EXPECT_EQ(pieces_of(ChunkOrder::by_turns(std::vector<bool>(10, false))), straight);
  EXPECT_EQ(ChunkOrder::by_turns({}).size(), 0u);
}

// For any set of cached pieces, the order has each piece once and keeps cached and uncached pieces
// sorted. While both kinds are left, the uncached ones make up the disk's share of each prefix.
TEST(ChunkOrder, GivesEachPieceOneTurn) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<bool> cached(random() % 300);
    const auto threshold = random() % 100;
    for (std::size_t i = 0; i < cached.size(); ++i) cached[i] = random() % 100 < threshold;
    const ChunkOrder by_turns = ChunkOrder::by_turns(cached);
    const std::vector<std::size_t> order = pieces_of(by_turns);
    std::vector<std::size_t> sorted = order;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted.size(), cached.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
    const auto is_cached = [&](std::size_t piece) { return by_turns.is_cached(piece); };
    const auto rest = std::ranges::stable_partition(sorted = order, is_cached);
    EXPECT_TRUE(std::is_sorted(sorted.begin(), rest.begin()));
    EXPECT_TRUE(std::ranges::is_sorted(rest));

    const double all = static_cast<double>(std::max<std::size_t>(cached.size(), 1));
    const auto on_disk = static_cast<std::size_t>(std::ranges::count(cached, false));
    const double share = ChunkOrder::disk_share(static_cast<double>(on_disk) / all);
    std::size_t from_disk = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      from_disk += is_cached(order[k]) ? 0 : 1;
      const bool both_left = from_disk < on_disk && k + 1 - from_disk < cached.size() - on_disk;
      if (!both_left) break;
      EXPECT_NEAR(static_cast<double>(from_disk), share * static_cast<double>(k + 1), 1.0);
    }
  }
}

TEST(Plan, ReadsByTurns) {
  const std::vector<Extent> file{{0, 100, 35}};
  const auto by_turns =
      std::make_shared<const ChunkOrder>(ChunkOrder::by_turns({false, false, true, true}));
  const SequentialPlan plan(file, 10, by_turns);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(extents_in(plan, 0), (std::vector<Extent>{{0, 120, 10, true}}));
  EXPECT_EQ(extents_in(plan, 1), (std::vector<Extent>{{0, 100, 10, false}}));
  EXPECT_EQ(extents_in(plan, 2), (std::vector<Extent>{{0, 130, 5, true}}));
  EXPECT_EQ(plan.chunk(2).first, 30u);
  EXPECT_EQ(plan.bytes(2), 5u);
  EXPECT_EQ(plan.bytes(3), 10u);
}

TEST(Plan, HasNoExtentsForStepsThatAreThere) {
  const std::vector<Extent> file{{0, 100, 35}};
  const SequentialPlan pieces({{file}},
                              {.chunk_records = 5, .pieces_per_step = 2, .resident_records = 20});
  EXPECT_FALSE(pieces.reads_nothing());
  EXPECT_EQ(pieces.bytes(), 35u);
  for (const std::size_t chunk : {0, 1, 2, 3}) EXPECT_TRUE(extents_in(pieces, chunk).empty());
  EXPECT_EQ(extents_in(pieces, 4), (std::vector<Extent>{{0, 120, 5}}));
  EXPECT_TRUE(pieces.is_resident(1));
  EXPECT_FALSE(pieces.is_resident(2));

  // The margin of a step has to be there, too, and all of the step.
  const SequentialPlan wide({{file}}, {.chunk_records = 10, .after = 1, .resident_records = 20});
  EXPECT_TRUE(wide.is_resident(0));
  EXPECT_FALSE(wide.is_resident(1));
  const SequentialPlan cut({{file}}, {.chunk_records = 10, .resident_records = 19});
  EXPECT_FALSE(cut.is_resident(1));
  EXPECT_EQ(extents_in(cut, 1), (std::vector<Extent>{{0, 110, 10}}));

  const SequentialPlan all({{file}}, {.chunk_records = 10, .resident_records = 35});
  EXPECT_TRUE(all.reads_nothing());
  EXPECT_TRUE(extents_in(all, 3).empty());
  EXPECT_FALSE(SequentialPlan(file, 10).is_resident(0));
}

TEST(Plan, HasTheChunksOfASampleOnly) {
  const std::vector<Extent> file{{0, 100, 35}};
  const auto shard = [&](std::size_t index) {
    return SequentialPlan(file, 10,
                          std::make_shared<const ChunkOrder>(ChunkOrder::sample(4, {}, index, 3)));
  };
  ASSERT_EQ(shard(0).size(), 2u);
  EXPECT_EQ(extents_in(shard(0), 1), (std::vector<Extent>{{0, 130, 5}}));
  EXPECT_EQ(shard(0).bytes(), 15u);
  EXPECT_EQ(shard(2).bytes(), 10u);
  EXPECT_EQ(shard(2).step(0).first, 20u);
}

// The order is part of the interface: a training run must be repeatable elsewhere.
TEST(ChunkOrder, ShufflesByTheSeedAlone) {
  const auto shuffled = [](std::size_t pieces, std::uint64_t seed) {
    return pieces_of(ChunkOrder::sample(pieces, seed, 0, 1));
  };
  EXPECT_EQ(shuffled(8, 1), (std::vector<std::size_t>{3, 4, 5, 7, 6, 2, 0, 1}));
  EXPECT_NE(shuffled(1000, 1), shuffled(1000, 2));
  std::vector<std::size_t> sorted = shuffled(1000, 7);
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i);
}

TEST(ChunkOrder, DealsShuffledPiecesOutToShards) {
  const std::vector<std::size_t> all = pieces_of(ChunkOrder::sample(10, 5, 0, 1));
  for (std::size_t shard = 0; shard < 3; ++shard) {
    const std::vector<std::size_t> part = pieces_of(ChunkOrder::sample(10, 5, shard, 3));
    ASSERT_EQ(part.size(), shard == 0 ? 4u : 3u);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], all[shard + 3 * i]);
  }
  EXPECT_EQ(ChunkOrder::sample(2, {}, 2, 3).size(), 0u);
}

// The expected chunks come from a walk over the sequence, byte by byte.
TEST(Plan, GivesEachByteToOneChunkInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Extent> sequence(random() % 8);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> expected;
    for (Extent& extent : sequence) {
      extent = {static_cast<std::uint32_t>(random() % 3), random() % 1000, random() % 40};
      for (std::uint64_t i = 0; i < extent.bytes; ++i) {
        expected.emplace_back(extent.file, extent.offset + i);
      }
    }
    const std::uint64_t chunk_bytes = 1 + random() % 50;
    const SequentialPlan plan(sequence, chunk_bytes);
    ASSERT_EQ(plan.bytes(), expected.size());
    ASSERT_EQ(plan.size(), (expected.size() + chunk_bytes - 1) / chunk_bytes);

    std::vector<std::pair<std::uint32_t, std::uint64_t>> actual;
    std::size_t most = 0;
    for (std::size_t chunk = 0; chunk < plan.size(); ++chunk) {
      EXPECT_EQ(plan.chunk(chunk).first, actual.size());
      const auto extents = extents_in(plan, chunk);
      most = std::max(most, extents.size());
      for (const Extent& extent : extents) {
        for (std::uint64_t i = 0; i < extent.bytes; ++i) {
          actual.emplace_back(extent.file, extent.offset + i);
        }
      }
      EXPECT_EQ(plan.chunk(chunk).first + plan.bytes(chunk), actual.size());
    }
    EXPECT_EQ(actual, expected);
    EXPECT_EQ(plan.max_extents(), most);
  }
}

using BytePlaces = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // file, offset

/// Inputs in pieces of files, and the place of each of their bytes.
struct Inputs {
  std::vector<Extent> extents;
  std::vector<BytePlaces> places;
};

/// Chooses the sizes of the records, too.
Inputs random_inputs(std::mt19937& random, std::uint64_t records,
                     std::vector<std::uint64_t>& record_bytes) {
  Inputs made{.extents = {}, .places = std::vector<BytePlaces>(record_bytes.size())};
  for (std::uint32_t i = 0; i < record_bytes.size(); ++i) {
    record_bytes[i] = 1 + random() % 5;
    for (std::uint64_t left = records * record_bytes[i]; left != 0;) {
      const std::uint64_t bytes = std::min<std::uint64_t>(left, 1 + random() % 50);
      made.extents.push_back({.file = static_cast<std::uint32_t>(random() % 3),
                              .offset = random() % 1000,
                              .bytes = bytes,
                              .input = i});
      for (std::uint64_t j = 0; j < bytes; ++j) {
        made.places[i].emplace_back(made.extents.back().file, made.extents.back().offset + j);
      }
      left -= bytes;
    }
  }
  return made;
}

// As above, for several inputs with a margin around steps of several chunks.
TEST(Plan, GivesTheSameRecordsOfEachInputWithTheirMargin) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t records = random() % 60;
    Cut cut{.chunk_records = 1 + random() % 20,
            .record_bytes = std::vector<std::uint64_t>(1 + random() % 3),
            .pieces_per_step = 1 + random() % 3};
    if (random() % 2 != 0) cut.before = random() % 30;
    if (random() % 2 != 0) cut.after = random() % 30;
    const Inputs made = random_inputs(random, records, cut.record_bytes);
    const std::vector<BytePlaces>& inputs = made.places;
    const SequentialPlan plan(ooc::test::inputs_of(made.extents, cut.record_bytes.size()), cut);
    ASSERT_EQ(plan.records(), records);
    ASSERT_EQ(plan.size(), (records + cut.chunk_records - 1) / cut.chunk_records);
    for (std::size_t chunk = 0; chunk < plan.size(); ++chunk) {
      const std::size_t in_step = chunk % cut.pieces_per_step;
      const std::uint64_t begin = chunk * cut.chunk_records;
      const std::uint64_t end = std::min(begin + cut.chunk_records, records);
      const bool is_last = in_step + 1 == cut.pieces_per_step || chunk + 1 == plan.size();
      const std::uint64_t first = in_step != 0 ? begin : begin - std::min(begin, cut.before);
      const std::uint64_t last = is_last ? std::min(end + cut.after, records) : end;
      EXPECT_EQ(plan.chunk_read(chunk).first, first);
      EXPECT_EQ(plan.chunk_read(chunk).end(), last);
      EXPECT_LE(plan.bytes(chunk), plan.max_bytes());
      const auto found = extents_in(plan, chunk);
      std::vector<BytePlaces> actual(inputs.size());
      EXPECT_TRUE(std::ranges::is_sorted(found, {}, &Extent::input));
      for (const Extent& extent : found) {
        for (std::uint64_t j = 0; j < extent.bytes; ++j) {
          actual[extent.input].emplace_back(extent.file, extent.offset + j);
        }
      }
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto at = [&](std::uint64_t record) {
          return inputs[i].begin() + static_cast<std::ptrdiff_t>(record * cut.record_bytes[i]);
        };
        EXPECT_EQ(actual[i], BytePlaces(at(first), at(last)));
      }
    }
    for (std::size_t step = 0; step < plan.steps(); ++step) {
      EXPECT_EQ(plan.step(step).first, plan.chunk(plan.first_piece(step)).first);
      EXPECT_EQ(plan.step_read(step).first, plan.chunk_read(plan.first_piece(step)).first);
      EXPECT_EQ(plan.step_read(step).end(), plan.chunk_read(plan.first_piece(step + 1) - 1).end());
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_LE(plan.step_read(step).count * cut.record_bytes[i], plan.max_step_bytes(i));
      }
    }
  }
}

// Two devices with steps of different lengths, in pieces, and a margin.
TEST(Plan, SharedPlansHaveEachRecordOnce) {
  const std::vector<Extent> files{{0, 0, 301}, {1, 5, 702}};
  LocalBlocks blocks({});
  blocks.begin(1003, 40);
  std::vector<int> seen(1003), seen_by_steps(1003);
  std::vector<std::unique_ptr<SequentialPlan>> plans;
  for (const std::size_t pieces : {1u, 4u}) {
    plans.push_back(std::make_unique<SequentialPlan>(
        std::vector<InputStorage>{{files}}, Cut{.chunk_records = 10,
                                                .share = std::make_shared<Share>(blocks, 1003, 40),
                                                .pieces_per_step = pieces,
                                                .before = 2,
                                                .after = 3}));
  }
  std::vector<std::size_t> steps(2);
  for (std::size_t i = 0; plans[0]->has(plans[0]->first_piece(steps[0])) ||
                          plans[1]->has(plans[1]->first_piece(steps[1]));
       i = (i + 1) % 2) {
    const SequentialPlan& plan = *plans[i];
    if (!plan.has(plan.first_piece(steps[i]))) continue;
    const std::size_t step = steps[i]++;
    const RecordRange records = plan.step(step), read = plan.step_read(step);
    for (std::uint64_t k = records.first; k < records.end(); ++k) ++seen_by_steps[k];
    EXPECT_EQ(read.first, records.first < 2 ? 0 : records.first - 2);
    EXPECT_EQ(read.end(), std::min<std::uint64_t>(records.end() + 3, 1003));
    std::uint64_t bytes = 0;
    for (std::size_t chunk = plan.first_piece(step); chunk < plan.end_piece(step); ++chunk) {
      EXPECT_TRUE(plan.has(chunk));
      const RecordRange piece = plan.chunk(chunk);
      for (std::uint64_t k = piece.first; k < piece.end(); ++k) ++seen[k];
      for (const Extent& extent : extents_in(plan, chunk)) bytes += extent.bytes;
    }
    EXPECT_EQ(bytes, read.count);
  }
  EXPECT_EQ(std::ranges::count(seen, 1), 1003);
  EXPECT_EQ(std::ranges::count(seen_by_steps, 1), 1003);
  EXPECT_GT(steps[0], 4u);
  EXPECT_GT(steps[1], 1u);
}

}  // namespace
}  // namespace ooc::detail
