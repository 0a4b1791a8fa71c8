#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace ooc::detail {
namespace {

TEST(ChunkPool, LaysOutItsMemoryInPages) {
  ChunkPool pool(heap_memory(), 3, 5000, 4);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.slot_bytes(), 8192u);
  EXPECT_EQ(pool.memory().size(), 3 * 8192u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.memory().data()) % page_bytes, 0u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Chunk* chunk = pool.begin(i);
    EXPECT_EQ(chunk->memory.data(), pool.memory().data() + i * 8192);
    EXPECT_GE(chunk->segments.capacity(), 4u);
  }
}

TEST(ChunkPool, PassesAChunkFromThreadToThread) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  EXPECT_FALSE(pool.is_at(0, ChunkState::loaded));
  Chunk* chunk = pool.try_begin(0);
  ASSERT_NE(chunk, nullptr);
  EXPECT_NE(pool.try_begin(1), nullptr);
  EXPECT_EQ(pool.try_begin(2), nullptr);
  chunk->segments.push_back(chunk->memory);
  pool.publish(*chunk, ChunkState::loaded);
  EXPECT_EQ(pool.try_begin(0), nullptr);
  ASSERT_TRUE(pool.is_at(0, ChunkState::loaded));
  EXPECT_EQ(pool.wait(0, ChunkState::loaded), chunk);
  EXPECT_EQ(chunk->index, 0u);
  EXPECT_EQ(chunk->segments.size(), 1u);

  pool.recycle(*chunk);
  EXPECT_EQ(pool.try_begin(2), chunk);
  EXPECT_EQ(chunk->index, 2u);
  EXPECT_TRUE(chunk->segments.empty());
}

TEST(ChunkPool, PassesWhatIsComputedOnToTheWriter) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  pool.begin(0);
  Chunk* chunk = pool.begin(1);
  pool.publish(*chunk, ChunkState::loaded);
  EXPECT_FALSE(pool.is_at(1, ChunkState::computed));
  pool.publish(*pool.wait(1, ChunkState::loaded), ChunkState::computed);
  EXPECT_FALSE(pool.is_at(1, ChunkState::loaded));
  EXPECT_EQ(pool.try_begin(2), nullptr);
  ASSERT_TRUE(pool.is_at(1, ChunkState::computed));
  EXPECT_EQ(pool.wait(1, ChunkState::computed), chunk);
  pool.recycle(*chunk);
  EXPECT_NE(pool.try_begin(2), nullptr);
}

TEST(ChunkPool, EndsBeforeAnIndexForTheWriterToo) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  Chunk* first = pool.begin(0);
  pool.publish(*first, ChunkState::loaded);
  pool.end_at(1);
  EXPECT_EQ(pool.wait(1, ChunkState::computed), nullptr);
  pool.publish(*pool.wait(0, ChunkState::loaded), ChunkState::computed);
  EXPECT_EQ(pool.wait(0, ChunkState::computed), first);
  pool.recycle(*first);
  EXPECT_EQ(pool.wait(2, ChunkState::computed), nullptr);
}

TEST(ChunkPool, EndsBeforeAnIndex) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  Chunk* first = pool.begin(0);
  pool.publish(*first, ChunkState::loaded);
  pool.end_at(1);
  EXPECT_NE(pool.wait(0, ChunkState::loaded), nullptr);
  EXPECT_EQ(pool.wait(1, ChunkState::loaded), nullptr);
  EXPECT_EQ(pool.begin(1), nullptr);
  EXPECT_EQ(pool.try_begin(1), nullptr);
  EXPECT_EQ(pool.wait(100, ChunkState::loaded), nullptr);
  pool.recycle(*first);
  EXPECT_EQ(pool.begin(2), nullptr);
  EXPECT_EQ(pool.wait(2, ChunkState::loaded), nullptr);
}

TEST(ChunkPool, RestartRewinds) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  pool.publish(*pool.begin(0), ChunkState::loaded);
  pool.end_at(1);
  pool.restart();
  EXPECT_NE(pool.try_begin(0), nullptr);
  EXPECT_NE(pool.try_begin(1), nullptr);
  EXPECT_FALSE(pool.is_aborted());
  pool.abort();
  EXPECT_TRUE(pool.is_aborted());
  EXPECT_THROW(pool.begin(2), Aborted);
  EXPECT_EQ(pool.try_begin(2), nullptr);
  EXPECT_THROW(pool.wait(7, ChunkState::loaded), Aborted);
  pool.restart();
  EXPECT_FALSE(pool.is_aborted());
  EXPECT_NE(pool.try_begin(0), nullptr);
}

TEST(ChunkPool, AbortIsFinal) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  Chunk* chunk = pool.begin(0);
  pool.publish(*chunk, ChunkState::loaded);
  pool.abort();
  pool.recycle(*chunk);
  pool.end_at(0);
  EXPECT_THROW(pool.begin(2), Aborted);
  EXPECT_THROW(pool.begin(1), Aborted);
}

TEST(ChunkPool, AbortWakesWaiters) {
  ChunkPool pool(heap_memory(), 1, 1, 1);
  std::atomic<int> aborted = 0;
  {
    std::vector<std::jthread> waiters;
    for (std::size_t i = 0; i < 4; ++i) {
      waiters.emplace_back([&, i] {
        try {
          pool.wait(i, ChunkState::loaded);
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
class PoolPass {
 public:
  PoolPass(ChunkPool& pool, std::size_t chunks, std::size_t lanes, bool writes,
           bool changes_limit = false)
      : pool_(pool),
        chunks_(chunks),
        lanes_(lanes),
        writes_(writes),
        changes_limit_(changes_limit) {}

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

 private:
  void read(std::optional<std::size_t> end_at) {
    for (std::size_t i = 0; i < chunks_; ++i) {
      if (changes_limit_) pool_.set_limit(1 + random_() % pool_.size());
      if (end_at == i) {
        pool_.end_at(i);
        return;
      }
      Chunk* chunk = pool_.begin(i);
      std::memcpy(chunk->memory.data(), &i, sizeof i);
      chunk->segments.push_back(chunk->memory.first(sizeof i));
      pool_.publish(*chunk, ChunkState::loaded);
    }
  }

  void consume(std::size_t lane) {
    for (std::size_t i = lane; i < chunks_; i += lanes_) {
      Chunk* chunk = pool_.wait(i, ChunkState::loaded);
      if (chunk == nullptr) return;
      check(*chunk, i);
      ++seen_;
      writes_ ? pool_.publish(*chunk, ChunkState::computed) : pool_.recycle(*chunk);
    }
  }

  void write() {
    for (std::size_t i = 0; i < chunks_; ++i) {
      const Chunk* chunk = pool_.wait(i, ChunkState::computed);
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
  bool writes_, changes_limit_;
  std::mt19937 random_{3};
  std::atomic<std::size_t> seen_ = 0, written_ = 0, wrong_ = 0;
};

TEST(ChunkPool, EveryChunkArrivesOnceWhateverTheNumbers) {
  for (const std::size_t slots : {1u, 2u, 3u, 7u}) {
    ChunkPool pool(heap_memory(), slots, 8, 1);
    for (const std::size_t lanes : {1u, 2u, 5u}) {
      for (const bool writes : {false, true}) {
        pool.restart();
        EXPECT_EQ(PoolPass(pool, 1000, lanes, writes).run(), 1000u)
            << slots << " slots, " << lanes << " lanes";
      }
    }
  }
}

// end_at() races with the lanes that recycle. No lane may be left waiting or miss a chunk.
TEST(ChunkPool, EndsExactlyWhereverItIsEnded) {
  std::mt19937 random(2);
  for (int round = 0; round < 600; ++round) {
    ChunkPool pool(heap_memory(), 1 + random() % 4, 8, 1);
    const std::size_t end = random() % 12;
    EXPECT_EQ(PoolPass(pool, 20, 1 + random() % 3, round % 2 == 0).run(end), end);
  }
}

TEST(ChunkPool, UsesTheLowestFreeSlotBelowTheLimit) {
  ChunkPool pool(heap_memory(), 4, 1, 1);
  pool.restart(2);
  Chunk* first = pool.begin(0);
  Chunk* second = pool.begin(1);
  EXPECT_EQ(pool.slot_of(*second), 1u);
  EXPECT_EQ(pool.try_begin(2), nullptr);
  pool.set_limit(4);
  Chunk* third = pool.begin(2);
  EXPECT_EQ(pool.slot_of(*third), 2u);
  pool.set_limit(1);
  EXPECT_EQ(pool.try_begin(3), nullptr);
  pool.recycle(*third);  // its slot is not used again
  EXPECT_EQ(pool.try_begin(3), nullptr);
  pool.recycle(*first);
  EXPECT_EQ(pool.try_begin(3), first);
  EXPECT_EQ(pool.slot_of(*first), 0u);
}

TEST(ChunkPool, LetsNoChunkRunAheadOfTheOldestWithoutBound) {
  ChunkPool pool(heap_memory(), 2, 1, 1);
  std::size_t index = 1;
  const Chunk* const oldest = pool.begin(0);
  for (; const Chunk* chunk = pool.try_begin(index); ++index) pool.recycle(*chunk);
  EXPECT_GE(index, 4u);
  EXPECT_LE(index, 16u);
  std::atomic<bool> begun{false};
  const std::jthread next([&] {
    pool.begin(index);
    begun = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(begun);
  pool.recycle(*oldest);  // or the test would not end
}

TEST(ChunkPool, EveryChunkArrivesOnceWhileTheLimitChanges) {
  for (const std::size_t slots : {5u, 7u, 20u}) {
    ChunkPool pool(heap_memory(), slots, 8, 1);
    for (const std::size_t lanes : {1u, 2u, 5u}) {
      for (const bool writes : {false, true}) {
        pool.restart(slots / 2);
        PoolPass pass(pool, 1000, lanes, writes, true);
        EXPECT_EQ(pass.run(), 1000u) << slots << " slots, " << lanes << " lanes";
      }
    }
  }
}

TEST(ChunkPool, EndsExactlyWhileTheLimitChanges) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    ChunkPool pool(heap_memory(), 3 + random() % 4, 8, 1);
    const std::size_t end = random() % 100;
    EXPECT_EQ(PoolPass(pool, 120, 1 + random() % 3, round % 2 == 0, true).run(end), end);
  }
}

TEST(ChunkPool, AbortInTheMiddleStopsEveryone) {
  for (int round = 0; round < 200; ++round) {
    ChunkPool pool(heap_memory(), 3, 8, 1);
    const auto endless = [&pool](std::size_t first, std::size_t step, ChunkState state) {
      EXPECT_THROW(
          for (std::size_t i = first;; i += step) {
            const bool begins = state == ChunkState::empty;
            Chunk* chunk = begins ? pool.begin(i) : pool.wait(i, state);
            if (begins) pool.set_limit(1 + i % 3);
            if (begins) pool.publish(*chunk, ChunkState::loaded);
            if (state == ChunkState::loaded) pool.publish(*chunk, ChunkState::computed);
            if (state == ChunkState::computed) pool.recycle(*chunk);
          },
          Aborted);
    };
    const std::array threads{std::jthread(endless, 0, 1, ChunkState::empty),
                             std::jthread(endless, 0, 2, ChunkState::loaded),
                             std::jthread(endless, 1, 2, ChunkState::loaded),
                             std::jthread(endless, 0, 1, ChunkState::computed)};
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    pool.abort();
  }
}

}  // namespace
}  // namespace ooc::detail
