#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/early_clock.hpp"

namespace ooc::detail {
namespace {

class PassThreadsTest : public testing::Test {
 protected:
  /// Returns a share that ends only when the pool is aborted.
  std::function<void()> wait_for_ever(ChunkPool& pool) {
    return [&pool] { pool.wait(0, ChunkState::loaded); };
  }

  ChunkPool first_{heap_memory(), 1, 1, 1};
  ChunkPool second_{heap_memory(), 1, 1, 1};
  PassThreads threads_{{&first_, &second_}};
};

const auto no_report = [] {};

TEST_F(PassThreadsTest, RunsEveryShareOnAThreadOfItsOwn) {
  std::atomic<int> ran{0}, met{0};
  for (int i = 0; i < 5; ++i) {
    threads_.start([&] {
      ++met;
      while (met < 5) std::this_thread::yield();
      ++ran;
    });
  }
  threads_.join(no_report);
  EXPECT_EQ(ran, 5);
}

TEST_F(PassThreadsTest, JoinsWithoutThreads) {
  EXPECT_NO_THROW(threads_.join(no_report));
}

TEST_F(PassThreadsTest, AnErrorEndsTheWaitsInAllPools) {
  threads_.start(wait_for_ever(first_));
  threads_.start(wait_for_ever(second_));
  threads_.start([] { throw std::runtime_error("the first"); });
  try {
    threads_.join(no_report);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the first");
  }
  EXPECT_THROW(first_.wait(0, ChunkState::empty), Aborted);
  EXPECT_THROW(second_.wait(0, ChunkState::empty), Aborted);
}

TEST_F(PassThreadsTest, KeepsTheFirstError) {
  threads_.start([this] {
    try {
      first_.wait(0, ChunkState::loaded);
    } catch (const Aborted&) {
      throw std::runtime_error("the second");
    }
  });
  threads_.start([] { throw std::runtime_error("the first"); });
  try {
    threads_.join(no_report);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the first");
  }
}

TEST_F(PassThreadsTest, RunsAShareOfTheCaller) {
  const auto caller = std::this_thread::get_id();
  EXPECT_TRUE(threads_.run([&] { EXPECT_EQ(std::this_thread::get_id(), caller); }));
  threads_.start(wait_for_ever(first_));
  EXPECT_FALSE(threads_.run([] { throw std::runtime_error("the caller's"); }));
  // join() calls the report while the other threads end.
  int reports = 0;
  try {
    threads_.join([&] { ++reports; });
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the caller's");
  }
  EXPECT_GE(reports, 1);
}

TEST_F(PassThreadsTest, WaitsWhereTheClockIsBeforeItsEpoch) {
  std::atomic<bool> reported{false};
  threads_.start([&] {
    while (!reported) std::this_thread::yield();
  });
  const test::EarlyClock early;
  EXPECT_LT(std::chrono::steady_clock::now().time_since_epoch().count(), 0);
  threads_.join([&] { reported = true; });
}

TEST_F(PassThreadsTest, ReportsOnTheCallersThreadUntilTheEnd) {
  int reports = 0;
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> reported{false}, ended{false};
  threads_.start([&] {
    while (!reported) std::this_thread::yield();
    ended = true;
  });
  bool ended_at_last_report = false;
  threads_.join([&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ended_at_last_report = ended;
    reported = true;
    ++reports;
  });
  EXPECT_GE(reports, 2);
  EXPECT_TRUE(ended_at_last_report);
}

TEST_F(PassThreadsTest, AnErrorOfTheReportEndsThePassToo) {
  threads_.start(wait_for_ever(first_));
  EXPECT_THROW(threads_.join([] { throw std::runtime_error("the report's"); }), std::runtime_error);
}

TEST_F(PassThreadsTest, AbortsWhatIsNotJoined) {
  std::atomic<bool> aborted{false};
  {
    PassThreads dropped({&first_});
    dropped.start([&] {
      try {
        first_.wait(0, ChunkState::loaded);
      } catch (const Aborted&) {
        aborted = true;
      }
    });
  }
  EXPECT_TRUE(aborted);
}

TEST_F(PassThreadsTest, LeavesThePoolsOfAPassThatHasEndedAlone) {
  {
    PassThreads ended({&first_});
    ended.start([] {});
    ended.join(no_report);
  }
  EXPECT_NE(first_.try_begin(0), nullptr);
}

}  // namespace
}  // namespace ooc::detail
