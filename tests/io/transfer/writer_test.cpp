#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/writer.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "io/expect_error.hpp"
#include "support/counted_new.hpp"
#include "support/engines.hpp"
#include "support/faulty_engine.hpp"
#include "support/random.hpp"
#include "support/random_engine.hpp"
#include "support/temp_dir.hpp"
#include "support/wrapped_engine.hpp"

namespace ooc::detail {
namespace {

using test::TempDir;
using Bytes = std::vector<std::byte>;

/// A plan that lists the extents of its chunks.
class ListedPlan final : public Plan {
 public:
  explicit ListedPlan(std::vector<std::vector<Extent>> chunks) : chunks_(std::move(chunks)) {}

  std::size_t size() const noexcept override { return chunks_.size(); }
  std::size_t max_extents() const noexcept override {
    std::size_t most = 0;
    for (const auto& extents : chunks_) most = std::max(most, extents.size());
    return most;
  }
  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override {
    std::ranges::copy(chunks_[chunk], storage.begin());
    return storage.first(chunks_[chunk].size());
  }

 private:
  std::vector<std::vector<Extent>> chunks_;
};

/// Returns a plan that cuts one range into chunks.
ListedPlan consecutive(std::uint64_t begin, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  std::vector<std::vector<Extent>> chunks;
  for (std::uint64_t done = 0; done < bytes; done += chunk_bytes) {
    chunks.push_back({{0, begin + done, std::min(chunk_bytes, bytes - done)}});
  }
  return ListedPlan(chunks);
}

/// Returns a plan that cuts a matrix of bytes, which starts at `begin`, into tiles. A chunk has an
/// extent for each row of its tile.
ListedPlan tiles_of(std::uint64_t begin, std::uint64_t rows, std::uint64_t columns,
                    std::uint64_t tile_rows, std::uint64_t tile_columns) {
  std::vector<std::vector<Extent>> chunks;
  for (std::uint64_t row = 0; row < rows; row += tile_rows) {
    for (std::uint64_t column = 0; column < columns; column += tile_columns) {
      auto& chunk = chunks.emplace_back();
      for (std::uint64_t r = row; r < std::min(row + tile_rows, rows); ++r) {
        chunk.push_back(
            {0, begin + r * columns + column, std::min(tile_columns, columns - column)});
      }
    }
  }
  return ListedPlan(chunks);
}

/// Passes requests on and records them.
class WatchedEngine final : public test::WrappedEngine {
 public:
  using WrappedEngine::WrappedEngine;

  void start(Request& request) override {
    EXPECT_LT(in_flight(), depth());
    EXPECT_EQ(request.source, nullptr);
    (request.direct ? direct : buffered).push_back({0, request.offset, request.bytes});
    WrappedEngine::start(request);
    most_in_flight = std::max(most_in_flight, in_flight());
  }

  std::vector<Extent> direct, buffered;
  std::size_t most_in_flight = 0;
};

/// Position of a segment in its slot: at the same offset within a page as in the file, which allows
/// direct I/O, or at an odd offset.
enum class Place { as_in_file, odd };

/// Fills the slots of a pool as lanes do, from the expected contents of the whole file.
class SlotFiller {
 public:
  SlotFiller(const Plan& plan, const Bytes& contents, Place place)
      : plan_(plan), contents_(contents), place_(place), extents_(plan.max_extents()) {}

  static std::size_t slot_bytes(const Plan& plan) {
    std::size_t most = 0;
    std::vector<Extent> storage(plan.max_extents());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      std::size_t bytes = 0;
      for (const Extent& extent : plan.extents(i, storage)) bytes += extent.bytes + 2 * page_bytes;
      most = std::max(most, bytes);
    }
    return most;
  }

  void fill(ChunkPool& pool, std::size_t index) {
    Chunk& chunk = *pool.begin(index);
    std::size_t begin = 0;
    for (const Extent& extent : plan_.extents(index, extents_)) {
      begin = round_up(begin, page_bytes) +
              (place_ == Place::as_in_file ? extent.offset % page_bytes : 13);
      const auto segment = chunk.memory.subspan(begin, extent.bytes);
      std::memcpy(segment.data(), contents_.data() + extent.offset, extent.bytes);
      chunk.segments.push_back(segment);
      begin += extent.bytes;
    }
    pool.publish(chunk, ChunkState::computed);
  }

  /// Fills as many chunks as the pool has slots, for a writer that runs on the same thread.
  void fill_all(ChunkPool& pool) {
    for (std::size_t i = 0; i < std::min(plan_.size(), pool.size()); ++i) fill(pool, i);
  }

 private:
  const Plan& plan_;
  const Bytes& contents_;
  Place place_;
  std::vector<Extent> extents_;
};

class WriterTest : public test::EachWay {
 protected:
  std::unique_ptr<Engine> make(std::size_t depth = 4) const {
    return make_engine({.writes = true, .kind = kind(), .depth = depth, .threads = 2});
  }

  /// Returns `begin` zeros, which no plan here contains, and then `bytes` random bytes.
  static Bytes contents(std::size_t begin, std::size_t bytes) {
    Bytes all = test::random_bytes(begin + bytes, static_cast<unsigned>(bytes));
    std::fill_n(all.begin(), begin, std::byte{0});
    return all;
  }

  /// Writes `contents` through a pool that another thread fills, and compares the file with it.
  void expect_written(const Plan& plan, const Bytes& contents, std::size_t slots,
                      std::size_t block_bytes, std::size_t depth, Place place) {
    OutputFile file(directory_.path() / "result", contents.size(), false);
    ChunkPool pool(heap_memory(), slots, SlotFiller::slot_bytes(plan), plan.max_extents());
    auto owned_engine =
        std::make_unique<WatchedEngine>(make_engine({.writes = true,
                                                     .kind = kind(),
                                                     .depth = depth,
                                                     .threads = 2,
                                                     .storage = pool.memory(),
                                                     .storage_piece = pool.slot_bytes()}));
    const WatchedEngine& engine = *owned_engine;
    Writer writer({&file}, plan, pool, std::move(owned_engine), block_bytes, direct());
    {
      const std::jthread lane([&] {
        SlotFiller filler(plan, contents, place);
        for (std::size_t i = 0; i < plan.size(); ++i) filler.fill(pool, i);
      });
      writer.run();
    }
    Bytes written(contents.size());
    EXPECT_EQ(::pread(file.buffered(), written.data(), written.size(), 0),
              static_cast<ssize_t>(written.size()));
    EXPECT_TRUE(written == contents);
    std::uint64_t payload = 0;
    for (const Extent& extent : engine.direct) payload += extent.bytes;
    for (const Extent& extent : engine.buffered) payload += extent.bytes;
    EXPECT_EQ(writer.bytes_done(), payload);
    EXPECT_EQ(engine.note() + engine.remark(), "");
  }

  TempDir directory_;
};

TEST_P(WriterTest, WritesEveryByteToItsPlaceWhateverTheLayout) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<std::size_t> begins{0, 128, page_bytes, random() % 10'000};
    const std::size_t begin = begins[static_cast<std::size_t>(round) % begins.size()];
    const std::size_t bytes = 1 + random() % 200'000;
    const std::size_t chunk_bytes =
        round % 3 == 0 ? page_bytes * (1 + random() % 9) : 1 + random() % 40'000;
    SCOPED_TRACE(round);
    expect_written(consecutive(begin, bytes, chunk_bytes), contents(begin, bytes), 1 + random() % 5,
                   std::size_t{4096} << random() % 4, 1 + random() % 9,
                   round % 5 == 0 ? Place::odd : Place::as_in_file);
  }
}

TEST_P(WriterTest, WritesTheRowsOfTiles) {
  for (const std::uint64_t columns : {3 * page_bytes, 3 * page_bytes + 17}) {
    for (const Place place : {Place::as_in_file, Place::odd}) {
      expect_written(tiles_of(128, 30, columns, 7, 5000), contents(128, 30 * columns), 3, 4096, 5,
                     place);
    }
  }
}

TEST_P(WriterTest, WritesNothingOfNothing) {
  expect_written(ListedPlan({}), {}, 1, 4096, 1, Place::as_in_file);
}

TEST_P(WriterTest, PassesChunksWithoutExtents) {
  const Bytes data = contents(0, 50'000);
  const ListedPlan plan({{}, {{0, 0, 20'000}}, {}, {}, {{0, 20'000, 30'000}}, {}});
  for (const std::size_t slots : {1u, 2u, 6u}) {
    expect_written(plan, data, slots, 4096, 3, Place::as_in_file);
  }
  expect_written(ListedPlan({{}, {}, {}}), {}, 1, 4096, 1, Place::as_in_file);
}

TEST(ChunksDone, AreThoseBeforeTheFirstThatIsNotWritten) {
  const TempDir directory;
  constexpr std::size_t chunk_bytes = page_bytes, chunks = 200;
  const Bytes data = test::random_bytes(chunks * chunk_bytes, 1);
  const ListedPlan plan = consecutive(0, data.size(), chunk_bytes);
  OutputFile file(directory.path() / "result", data.size(), false);
  ChunkPool pool(heap_memory(), 8, SlotFiller::slot_bytes(plan), 1);
  test::Random random(5);
  std::vector<bool> is_written(chunks + 1);
  const Writer* watched = nullptr;
  const auto transfer = [&](Request& request) {
    file.write(request.offset, {request.memory, request.bytes});
    const auto first = std::ranges::find(is_written, false) - is_written.begin();
    EXPECT_LE(watched->chunks_done(), static_cast<std::size_t>(first));
    is_written[request.offset / chunk_bytes] = true;
  };
  Writer writer({&file}, plan, pool, std::make_unique<test::RandomEngine>(8, random, transfer),
                chunk_bytes, false);
  watched = &writer;
  const std::jthread lane([&] {
    SlotFiller filler(plan, data, Place::as_in_file);
    for (std::size_t i = 0; i < chunks; ++i) filler.fill(pool, i);
  });
  writer.run();
  EXPECT_EQ(writer.chunks_done(), chunks);
}

TEST_P(WriterTest, WritesToSeveralFiles) {
  constexpr std::size_t bytes = 60'000;
  const Bytes data = contents(0, bytes);
  std::vector<std::vector<Extent>> chunks;  // with the same bytes for both files
  for (std::uint64_t done = 0; done < bytes; done += 20'000) {
    chunks.push_back({{0, done, 20'000}, {1, done, 20'000}});
  }
  const ListedPlan plan(chunks);
  OutputFile first(directory_.path() / "first", bytes, false);
  OutputFile second(directory_.path() / "second", bytes, false);
  ChunkPool pool(heap_memory(), plan.size(), SlotFiller::slot_bytes(plan), plan.max_extents());
  SlotFiller(plan, data, Place::as_in_file).fill_all(pool);
  Writer writer({&first, &second}, plan, pool, make(), 8192, direct());
  writer.run();
  EXPECT_EQ(writer.bytes_done(), 2 * bytes);
  for (const OutputFile* file : {&first, &second}) {
    Bytes written(bytes);
    EXPECT_EQ(::pread(file->buffered(), written.data(), bytes, 0), static_cast<ssize_t>(bytes));
    EXPECT_TRUE(written == data);
  }
}

TEST_P(WriterTest, WritesDirectlyAllButTheEnds) {
  constexpr std::size_t begin = 128, bytes = 100'000;
  const ListedPlan plan = consecutive(begin, bytes, bytes);
  const Bytes data = contents(begin, bytes);
  for (const Place place : {Place::as_in_file, Place::odd}) {
    OutputFile file(directory_.path() / "result", begin + bytes, false);
    if (direct() && file.direct() < 0) GTEST_SKIP() << file.why_not_direct();
    ChunkPool pool(heap_memory(), 1, SlotFiller::slot_bytes(plan), 1);
    SlotFiller(plan, data, place).fill_all(pool);
    auto owned_engine = std::make_unique<WatchedEngine>(make());
    const WatchedEngine& engine = *owned_engine;
    Writer writer({&file}, plan, pool, std::move(owned_engine), 8192, direct());
    writer.run();
    if (!direct() || place == Place::odd) {
      EXPECT_TRUE(engine.direct.empty());
      continue;
    }
    constexpr std::size_t tail = (begin + bytes) % page_bytes;
    const std::vector<Extent> ends{{0, begin, page_bytes - begin}, {0, begin + bytes - tail, tail}};
    EXPECT_EQ(engine.buffered, ends);
    for (const Extent& extent : engine.direct) {
      EXPECT_EQ(extent.offset % page_bytes, 0u);
      EXPECT_EQ(extent.bytes % page_bytes, 0u);
      EXPECT_LE(extent.bytes, 8192u);
    }
    EXPECT_EQ(engine.direct.front().offset, page_bytes);
    EXPECT_EQ(engine.direct.size(), 12u);  // 96 KiB between the first and the last block
  }
}

TEST_P(WriterTest, KeepsAsManyInFlightAsTheEngineTakes) {
  const ListedPlan plan = consecutive(0, 200'000, 30'000);
  const Bytes data = contents(0, 200'000);
  for (const std::size_t depth : {1u, 3u, 8u}) {
    OutputFile file(directory_.path() / "result", data.size(), false);
    ChunkPool pool(heap_memory(), plan.size(), SlotFiller::slot_bytes(plan), 1);
    SlotFiller(plan, data, Place::as_in_file).fill_all(pool);
    auto owned_engine = std::make_unique<WatchedEngine>(make(depth));
    const WatchedEngine& engine = *owned_engine;
    Writer writer({&file}, plan, pool, std::move(owned_engine), 4096, direct());
    writer.run();
    EXPECT_EQ(engine.most_in_flight, depth);
    EXPECT_EQ(engine.in_flight(), 0u);
  }
}

TEST_P(WriterTest, AllocatesNothingWhileItWrites) {
  const ListedPlan plan = tiles_of(128, 100, 20'000, 30, 7000);
  const Bytes data = contents(128, 2'000'000);
  OutputFile file(directory_.path() / "result", data.size(), false);
  ChunkPool pool(heap_memory(), plan.size(), SlotFiller::slot_bytes(plan), plan.max_extents());
  SlotFiller(plan, data, Place::as_in_file).fill_all(pool);
  Writer writer({&file}, plan, pool, make(), 8192, direct());
  const std::size_t before = test::count_of_new_by_this_thread();
  writer.run();
  EXPECT_EQ(test::count_of_new_by_this_thread(), before);
  EXPECT_EQ(writer.bytes_done(), 2'000'000u);
}

TEST_P(WriterTest, PassesErrorsOnWithNothingLeftInFlight) {
  const ListedPlan plan = consecutive(0, 200'000, 30'000);
  const Bytes data = contents(0, 200'000);
  for (const std::size_t good_writes : {0u, 1u, 20u}) {
    OutputFile file(directory_.path() / "result", data.size(), false);
    ChunkPool pool(heap_memory(), plan.size(), SlotFiller::slot_bytes(plan), 1);
    SlotFiller(plan, data, Place::as_in_file).fill_all(pool);
    const auto fail = [&] { throw file.write_error(EIO, 7); };
    Writer writer({&file}, plan, pool,
                  std::make_unique<test::FaultyEngine>(make(), good_writes, fail), 4096, direct());
    test::expect_error(ErrorKind::output,
                       "result: write failed at byte 7: Input/output error (EIO)",
                       [&] { writer.run(); });
    EXPECT_EQ(writer.engine().in_flight(), 0u);
  }
  EXPECT_TRUE(directory_.names().empty());
}

TEST_P(WriterTest, EndsWhereThePoolEnds) {
  const ListedPlan plan = consecutive(0, 200'000, 30'000);
  const Bytes data = contents(0, 200'000);
  for (const std::size_t end : {0u, 1u, 3u}) {
    OutputFile file(directory_.path() / "result", data.size(), false);
    ChunkPool pool(heap_memory(), 4, SlotFiller::slot_bytes(plan), 1);
    Writer writer({&file}, plan, pool, make(), 4096, direct());
    {
      const std::jthread reader([&] {
        SlotFiller filler(plan, data, Place::as_in_file);
        for (std::size_t i = 0; i < end; ++i) filler.fill(pool, i);
        pool.end_at(end);
      });
      writer.run();
    }
    EXPECT_EQ(writer.bytes_done(), end * 30'000);
    EXPECT_EQ(writer.engine().in_flight(), 0u);
  }
}

TEST_P(WriterTest, StopsWhenThePoolIsAborted) {
  const ListedPlan plan = consecutive(0, 200'000, 30'000);
  const Bytes data = contents(0, 200'000);
  OutputFile file(directory_.path() / "result", data.size(), false);
  ChunkPool pool(heap_memory(), 3, SlotFiller::slot_bytes(plan), 1);
  Writer writer({&file}, plan, pool, make(), 4096, direct());
  const std::jthread lane([&] {
    SlotFiller filler(plan, data, Place::as_in_file);
    for (std::size_t i = 0; i < 5; ++i) filler.fill(pool, i);
    pool.abort();
  });
  EXPECT_THROW(writer.run(), Aborted);
  EXPECT_EQ(writer.engine().in_flight(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, WriterTest, test::all_ways, test::way_name);

}  // namespace
}  // namespace ooc::detail
