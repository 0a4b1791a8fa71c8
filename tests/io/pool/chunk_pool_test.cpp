#include <gtest/gtest.h>

#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/io/units.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace ooc {
namespace {

std::pmr::memory_resource& memory() {
  return *std::pmr::new_delete_resource();
}

TEST(ChunkPool, LaysOutItsMemoryInPages) {
  ChunkPool pool(memory(), 3, 5000, 4);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.slot_bytes(), 8192u);
  EXPECT_EQ(pool.memory().size(), 3 * 8192u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.memory().data()) % page_bytes, 0u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Chunk* chunk = pool.wait(i, SlotState::empty);
    EXPECT_EQ(chunk->memory.data(), pool.memory().data() + i * 8192);
    EXPECT_GE(chunk->segments.capacity(), 4u);
  }
}

TEST(ChunkPool, PassesASlotFromTurnToTurn) {
  ChunkPool pool(memory(), 2, 1, 1);
  EXPECT_TRUE(pool.ready(0, SlotState::empty));
  EXPECT_TRUE(pool.ready(1, SlotState::empty));
  EXPECT_FALSE(pool.ready(2, SlotState::empty));
  EXPECT_FALSE(pool.ready(0, SlotState::loaded));

  Chunk* chunk = pool.wait(0, SlotState::empty);
  chunk->segments.push_back(chunk->memory);
  pool.publish(*chunk, SlotState::loaded);
  EXPECT_FALSE(pool.ready(0, SlotState::empty));
  ASSERT_TRUE(pool.ready(0, SlotState::loaded));
  EXPECT_EQ(pool.wait(0, SlotState::loaded), chunk);
  EXPECT_EQ(chunk->index, 0u);
  EXPECT_EQ(chunk->segments.size(), 1u);

  pool.recycle(*chunk);
  ASSERT_TRUE(pool.ready(2, SlotState::empty));
  EXPECT_EQ(pool.wait(2, SlotState::empty)->index, 2u);
  EXPECT_TRUE(chunk->segments.empty());
}

TEST(ChunkPool, PassesWhatIsComputedOnToTheWriter) {
  ChunkPool pool(memory(), 2, 1, 1);
  Chunk* chunk = pool.wait(1, SlotState::empty);
  pool.publish(*chunk, SlotState::loaded);
  EXPECT_FALSE(pool.ready(1, SlotState::computed));
  pool.publish(*pool.wait(1, SlotState::loaded), SlotState::computed);
  EXPECT_FALSE(pool.ready(1, SlotState::loaded));
  EXPECT_FALSE(pool.ready(3, SlotState::empty));
  ASSERT_TRUE(pool.ready(1, SlotState::computed));
  EXPECT_EQ(pool.wait(1, SlotState::computed), chunk);
  pool.recycle(*chunk);
  EXPECT_TRUE(pool.ready(3, SlotState::empty));
}

TEST(ChunkPool, EndsBeforeAnIndexForTheWriterToo) {
  ChunkPool pool(memory(), 2, 1, 1);
  Chunk* first = pool.wait(0, SlotState::empty);
  pool.publish(*first, SlotState::loaded);
  pool.end_at(1);
  EXPECT_EQ(pool.wait(1, SlotState::computed), nullptr);
  pool.publish(*pool.wait(0, SlotState::loaded), SlotState::computed);
  EXPECT_EQ(pool.wait(0, SlotState::computed), first);
  pool.recycle(*first);
  EXPECT_EQ(pool.wait(2, SlotState::computed), nullptr);
}

TEST(ChunkPool, EndsBeforeAnIndex) {
  ChunkPool pool(memory(), 2, 1, 1);
  Chunk* first = pool.wait(0, SlotState::empty);
  pool.publish(*first, SlotState::loaded);
  pool.end_at(1);
  EXPECT_NE(pool.wait(0, SlotState::loaded), nullptr);
  EXPECT_EQ(pool.wait(1, SlotState::loaded), nullptr);
  EXPECT_EQ(pool.wait(1, SlotState::empty), nullptr);
  EXPECT_EQ(pool.wait(100, SlotState::loaded), nullptr);
  pool.recycle(*first);
  EXPECT_EQ(pool.wait(2, SlotState::empty), nullptr);
  EXPECT_EQ(pool.wait(2, SlotState::loaded), nullptr);
}

TEST(ChunkPool, RestartRewinds) {
  ChunkPool pool(memory(), 2, 1, 1);
  pool.publish(*pool.wait(0, SlotState::empty), SlotState::loaded);
  pool.end_at(1);
  pool.restart();
  EXPECT_TRUE(pool.ready(0, SlotState::empty));
  EXPECT_TRUE(pool.ready(1, SlotState::empty));
  EXPECT_FALSE(pool.is_aborted());
  pool.abort();
  EXPECT_TRUE(pool.is_aborted());
  EXPECT_THROW(pool.wait(0, SlotState::empty), Aborted);
  EXPECT_THROW(pool.wait(7, SlotState::loaded), Aborted);
  pool.restart();
  EXPECT_FALSE(pool.is_aborted());
  EXPECT_TRUE(pool.ready(0, SlotState::empty));
}

TEST(ChunkPool, AbortIsFinal) {
  ChunkPool pool(memory(), 2, 1, 1);
  Chunk* chunk = pool.wait(0, SlotState::empty);
  pool.publish(*chunk, SlotState::loaded);
  pool.abort();
  pool.recycle(*chunk);
  pool.end_at(0);
  EXPECT_THROW(pool.wait(2, SlotState::empty), Aborted);
  EXPECT_THROW(pool.wait(1, SlotState::empty), Aborted);
}

TEST(ChunkPool, AbortWakesWaiters) {
  ChunkPool pool(memory(), 1, 1, 1);
  std::atomic<int> aborted = 0;
  {
    std::vector<std::jthread> waiters;
    for (std::size_t i = 0; i < 4; ++i) {
      waiters.emplace_back([&, i] {
        try {
          pool.wait(i, SlotState::loaded);
        } catch (const Aborted&) {
          ++aborted;
        }
      });
    }
    std::this_thread::yield();
    pool.abort();
  }
  EXPECT_EQ(aborted, 4);
}

/// A pass over a pool. A reader stamps chunks; the lanes, and a writer if there is one, check the
/// stamps. run() returns the number of chunks that the lanes received.
class Pass {
 public:
  Pass(ChunkPool& pool, std::size_t chunks, std::size_t lanes, bool writes, bool resizes = false)
      : pool_(pool), chunks_(chunks), lanes_(lanes), writes_(writes), resizes_(resizes) {}

  std::size_t run(std::optional<std::size_t> end_at = {}) {
    {
      std::vector<std::jthread> threads;
      threads.emplace_back([&] { read(end_at); });
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        threads.emplace_back([this, lane] { consume(lane); });
      }
      if (writes_) threads.emplace_back([this] { write(); });
    }
    EXPECT_EQ(wrong_, 0u);
    EXPECT_EQ(written_, writes_ ? seen_.load() : 0);
    return seen_;
  }

  /// Number of times the pool was resized.
  std::size_t resized() const { return resized_; }

 private:
  void read(std::optional<std::size_t> end_at) {
    for (std::size_t i = 0; i < chunks_; ++i) {
      if (resizes_ && pool_.resize(1 + random_() % pool_.size(), i)) ++resized_;
      if (end_at == i) {
        pool_.end_at(i);
        return;
      }
      Chunk* chunk = pool_.wait(i, SlotState::empty);
      std::memcpy(chunk->memory.data(), &i, sizeof i);
      chunk->segments.push_back(chunk->memory.first(sizeof i));
      pool_.publish(*chunk, SlotState::loaded);
    }
  }

  void consume(std::size_t lane) {
    for (std::size_t i = lane; i < chunks_; i += lanes_) {
      Chunk* chunk = pool_.wait(i, SlotState::loaded);
      if (chunk == nullptr) return;
      check(*chunk, i);
      ++seen_;
      writes_ ? pool_.publish(*chunk, SlotState::computed) : pool_.recycle(*chunk);
    }
  }

  void write() {
    for (std::size_t i = 0; i < chunks_; ++i) {
      const Chunk* chunk = pool_.wait(i, SlotState::computed);
      if (chunk == nullptr) return;
      check(*chunk, i);
      ++written_;
      pool_.recycle(*chunk);
    }
  }

  void check(const Chunk& chunk, std::size_t index) {
    std::size_t stamp = 0;
    std::memcpy(&stamp, chunk.segments.at(0).data(), sizeof stamp);
    wrong_ += stamp != index || chunk.index != index;
  }

  ChunkPool& pool_;
  std::size_t chunks_, lanes_;
  bool writes_, resizes_;
  std::mt19937 random_{3};
  std::size_t resized_ = 0;
  std::atomic<std::size_t> seen_ = 0, written_ = 0, wrong_ = 0;
};

TEST(ChunkPool, EveryChunkArrivesOnceWhateverTheNumbers) {
  for (const std::size_t slots : {1u, 2u, 3u, 7u}) {
    ChunkPool pool(memory(), slots, 8, 1);
    for (const std::size_t lanes : {1u, 2u, 5u}) {
      for (const bool writes : {false, true}) {
        pool.restart();
        EXPECT_EQ(Pass(pool, 1000, lanes, writes).run(), 1000u)
            << slots << " slots, " << lanes << " lanes";
      }
    }
  }
}

// end_at() races with the lanes that recycle. No lane may be left waiting or miss a chunk.
TEST(ChunkPool, EndsExactlyWhereverItIsEnded) {
  std::mt19937 random(2);
  for (int round = 0; round < 600; ++round) {
    ChunkPool pool(memory(), 1 + random() % 4, 8, 1);
    const std::size_t end = random() % 12;
    EXPECT_EQ(Pass(pool, 20, 1 + random() % 3, round % 2 == 0).run(end), end);
  }
}

TEST(ChunkPool, ResizesFromAChunkOnThatNobodyHasSeen) {
  ChunkPool pool(memory(), 4, 1, 1);
  pool.restart(2);
  EXPECT_EQ(pool.slot_of(5), 1u);
  EXPECT_EQ(pool.resize(3, 0), 4u);            // four chunks on, after whole rounds of two
  EXPECT_EQ(pool.resize(1, 0), std::nullopt);  // the previous resize is still pending
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(pool.slot_of(i), i % 2);
    Chunk* chunk = pool.wait(i, SlotState::empty);
    pool.publish(*chunk, SlotState::loaded);
    pool.recycle(*chunk);
  }
  for (std::size_t i = 4; i < 7; ++i) {
    EXPECT_EQ(pool.slot_of(i), i - 4);
    ASSERT_TRUE(pool.ready(i, SlotState::empty));
  }
  EXPECT_FALSE(pool.ready(7, SlotState::empty));
  EXPECT_EQ(pool.resize(1, 4), 10u);
  for (std::size_t i = 4; i < 10; ++i) pool.recycle(*pool.wait(i, SlotState::empty));
  ASSERT_TRUE(pool.ready(10, SlotState::empty));
  EXPECT_FALSE(pool.ready(11, SlotState::empty));
  pool.abort();
  EXPECT_EQ(pool.resize(2, 11), std::nullopt);  // the chunks may still be in use
  pool.restart();
  EXPECT_TRUE(pool.ready(3, SlotState::empty));
}

TEST(ChunkPool, HasASlotForEachOfTheFirstChunksAndFewForTheRest) {
  ChunkPool pool(memory(), 6, 1, 1, 2);
  EXPECT_EQ(pool.resize(2, 0), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(pool.slot_of(i), i);
    Chunk* chunk = pool.wait(i, SlotState::empty);
    pool.publish(*chunk, SlotState::loaded);
    pool.recycle(*chunk);
  }
  EXPECT_TRUE(pool.ready(6, SlotState::empty));
  EXPECT_TRUE(pool.ready(7, SlotState::empty));
  EXPECT_EQ(pool.slot_of(8), 0u);
  EXPECT_EQ(pool.resize(1, 6), 8u);  // two chunks on: the pool's reach is 2
}

TEST(ChunkPool, EveryChunkArrivesOnceThroughAllResizes) {
  for (const std::size_t slots : {5u, 7u, 20u}) {
    ChunkPool pool(memory(), slots, 8, 1);
    for (const std::size_t lanes : {1u, 2u, 5u}) {
      for (const bool writes : {false, true}) {
        pool.restart(slots / 2);
        Pass pass(pool, 1000, lanes, writes, true);
        EXPECT_EQ(pass.run(), 1000u) << slots << " slots, " << lanes << " lanes";
        EXPECT_GT(pass.resized(), 10u);
      }
    }
  }
}

TEST(ChunkPool, EndsExactlyWhileItIsResized) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    ChunkPool pool(memory(), 3 + random() % 4, 8, 1);
    const std::size_t end = random() % 100;
    EXPECT_EQ(Pass(pool, 120, 1 + random() % 3, round % 2 == 0, true).run(end), end);
  }
}

TEST(ChunkPool, AbortInTheMiddleStopsEveryone) {
  for (int round = 0; round < 200; ++round) {
    ChunkPool pool(memory(), 3, 8, 1);
    const auto endless = [&pool](std::size_t first, std::size_t step, SlotState stage) {
      EXPECT_THROW(
          for (std::size_t i = first;; i += step) {
            Chunk* chunk = pool.wait(i, stage);
            if (stage == SlotState::empty) pool.resize(1 + i % 3, i + 1);
            if (stage == SlotState::empty) pool.publish(*chunk, SlotState::loaded);
            if (stage == SlotState::loaded) pool.publish(*chunk, SlotState::computed);
            if (stage == SlotState::computed) pool.recycle(*chunk);
          },
          Aborted);
    };
    const std::array threads{std::jthread(endless, 0, 1, SlotState::empty),
                             std::jthread(endless, 0, 2, SlotState::loaded),
                             std::jthread(endless, 1, 2, SlotState::loaded),
                             std::jthread(endless, 0, 1, SlotState::computed)};
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    pool.abort();
  }
}

}  // namespace
}  // namespace ooc
