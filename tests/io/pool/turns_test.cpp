#include <ooc/detail/pool/turns.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace ooc::detail {
namespace {

TEST(Turns, GoFromStateToStateAndThenToTheIndexOneWindowOn) {
  Turns turns(3);
  EXPECT_EQ(turns.window(), 3u);
  EXPECT_TRUE(turns.is_at(1, ChunkState::empty));
  EXPECT_FALSE(turns.is_at(4, ChunkState::empty));
  turns.move_to(1, ChunkState::loaded);
  EXPECT_TRUE(turns.wait(1, ChunkState::loaded));
  turns.move_to(1, ChunkState::computed);
  EXPECT_FALSE(turns.is_at(1, ChunkState::loaded));
  EXPECT_TRUE(turns.wait(1, ChunkState::computed));
  turns.finish(1);
  EXPECT_TRUE(turns.wait(4, ChunkState::empty));
}

TEST(Turns, EndAtTheLowestIndex) {
  for (const bool lowest_first : {true, false}) {
    Turns turns(8);
    turns.end_at(lowest_first ? 3 : 5);
    turns.end_at(lowest_first ? 5 : 3);
    EXPECT_EQ(turns.end(), 3u);
    EXPECT_FALSE(turns.wait(4, ChunkState::loaded));
  }
}

TEST(Turns, OfWindowOneAreTakenInOrder) {
  constexpr std::size_t count = 2000, threads = 4;
  Turns turns(1);
  std::size_t next = 0;  // not atomic: one thread at a time
  std::atomic<std::size_t> wrong{0};
  {
    std::vector<std::jthread> takers;
    for (std::size_t first = 0; first < threads; ++first) {
      takers.emplace_back([&, first] {
        for (std::size_t i = first; i < count; i += threads) {
          turns.wait(i, ChunkState::empty);
          wrong += next++ != i;
          turns.finish(i);
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(next, count);
}

TEST(Turns, EndWhereTheyAreEnded) {
  Turns turns(2);
  turns.end_at(1);
  EXPECT_TRUE(turns.wait(0, ChunkState::empty));
  EXPECT_FALSE(turns.wait(1, ChunkState::loaded));
  EXPECT_FALSE(turns.wait(100, ChunkState::empty));
  turns.move_to(0, ChunkState::loaded);
  EXPECT_TRUE(turns.wait(0, ChunkState::loaded));
  turns.restart();
  EXPECT_TRUE(turns.wait(1, ChunkState::empty));
}

TEST(Turns, WakeWaitingThreadsWhenTheyEndOrAreAborted) {
  for (int round = 0; round < 200; ++round) {
    Turns turns(2);
    std::atomic<int> ended{0}, aborted{0};
    {
      std::vector<std::jthread> waiting;
      for (std::size_t i = 0; i < 4; ++i) {
        waiting.emplace_back([&, i] {
          try {
            ended += !turns.wait(i, ChunkState::loaded);
          } catch (const Aborted&) {
            ++aborted;
          }
        });
      }
      for (int i = 0; i < round % 8; ++i) std::this_thread::yield();
      round % 2 == 0 ? turns.end_at(0) : turns.abort();
    }
    EXPECT_EQ(ended, round % 2 == 0 ? 4 : 0);
    EXPECT_EQ(aborted, round % 2 == 0 ? 0 : 4);
  }
}

TEST(Turns, StayAbortedUntilTheyAreRestarted) {
  Turns turns(1);
  turns.abort();
  turns.finish(0);
  EXPECT_TRUE(turns.is_aborted());
  EXPECT_THROW(turns.wait(1, ChunkState::empty), Aborted);
  turns.restart();
  EXPECT_FALSE(turns.is_aborted());
  EXPECT_TRUE(turns.wait(0, ChunkState::empty));
}

}  // namespace
}  // namespace ooc::detail
