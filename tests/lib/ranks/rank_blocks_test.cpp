#include "ranks/rank_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/local_ranks.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t record_bytes = 4;
constexpr std::uint64_t records = 100'000;

/// Draws blocks on a thread of its own, as a pass does, until there are no more.
std::vector<std::uint64_t> draw_all(RankBlocks& blocks, std::chrono::microseconds pause = {}) {
  std::vector<std::uint64_t> drawn;
  std::atomic<bool> has_ended{false};
  std::jthread pass([&] {
    while (const auto block = blocks.draw()) {
      drawn.push_back(*block);
      std::this_thread::sleep_for(pause);
    }
    has_ended = true;
  });
  while (!has_ended) {
    blocks.attend();
    Conversation::nap();
  }
  pass.join();
  blocks.attend();
  return drawn;
}

std::vector<RecordRange> all_on(const Ranks& ranks) {
  return ranks.is_first() ? std::vector<RecordRange>{{0, records}} : std::vector<RecordRange>{};
}

/// Stays until all ranks have everything: rank 0 serves the others until they leave.
TEST(RankBlocks, GiveEachBlockToOneRank) {
  for (const std::size_t size : {1u, 2u, 5u}) {
    std::mutex mutex;
    std::multiset<std::uint64_t> all;
    std::uint64_t unit = 0;
    const auto errors = test::LocalRanks(size).run([&](Ranks& ranks) {
      ooc::detail::conversation_of(ranks).begin_job();
      RankBlocks blocks(ooc::detail::conversation_of(ranks), all_on(ranks), record_bytes, 10, {});
      const std::uint64_t own = blocks.begin(records, 10 * (ranks.rank() + 1));
      const auto drawn = draw_all(blocks, std::chrono::microseconds(50 * ranks.rank()));
      EXPECT_TRUE(std::ranges::is_sorted(drawn));
      EXPECT_TRUE(blocks.has_ended());
      EXPECT_TRUE(blocks.are_taken());
      EXPECT_TRUE(blocks.fragments().empty());
      const std::scoped_lock lock(mutex);
      unit = own;
      all.insert(drawn.begin(), drawn.end());
    });
    for (const auto& error : errors) EXPECT_EQ(error, nullptr) << test::described(error).second;
    const std::uint64_t expected = size == 1 ? 10 : size == 2 ? 20 : 600;
    EXPECT_EQ(unit, expected);
    ASSERT_EQ(all.size(), (records + unit - 1) / unit);
    std::uint64_t next = 0;
    for (const std::uint64_t block : all) EXPECT_EQ(block, next++);
  }
}

TEST(RankBlocks, LeaveWhatIsNoWholeBlockToRankZero) {
  const auto errors = test::LocalRanks(1).run([&](Ranks& ranks) {
    ooc::detail::conversation_of(ranks).begin_job();
    RankBlocks blocks(ooc::detail::conversation_of(ranks),
                      {{5, 7}, {100, 50}, {215, 30}, {99'990, 10}}, record_bytes, 10, {});
    EXPECT_EQ(blocks.begin(records, 20), 20u);
    std::vector<std::uint64_t> drawn = draw_all(blocks);
    EXPECT_EQ(drawn, (std::vector<std::uint64_t>{5, 6, 11}));
    const std::vector<RecordRange> fragments(blocks.fragments().begin(), blocks.fragments().end());
    EXPECT_EQ(fragments,
              (std::vector<RecordRange>{{5, 7}, {140, 10}, {215, 5}, {240, 5}, {99'990, 10}}));
  });
  EXPECT_EQ(errors.front(), nullptr) << test::described(errors.front()).second;
}

TEST(RankBlocks, ASlowRankGetsLess) {
  std::vector<std::size_t> counts(3);
  const auto errors = test::LocalRanks(3).run([&](Ranks& ranks) {
    ooc::detail::conversation_of(ranks).begin_job();
    RankBlocks blocks(ooc::detail::conversation_of(ranks), all_on(ranks), record_bytes, 10, {});
    blocks.begin(records, 100);
    const bool is_slow = ranks.rank() == 1;
    counts[ranks.rank()] = draw_all(blocks, std::chrono::microseconds(is_slow ? 4000 : 200)).size();
  });
  for (const auto& error : errors) EXPECT_EQ(error, nullptr) << test::described(error).second;
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), 1000u);
  EXPECT_LT(counts[1], counts[0]);
  EXPECT_LT(counts[1], counts[2]);
}

TEST(RankBlocks, APauseKeepsTheRest) {
  const auto errors = test::LocalRanks(1).run([&](Ranks& ranks) {
    ooc::detail::conversation_of(ranks).begin_job();
    RankBlocks blocks(ooc::detail::conversation_of(ranks), all_on(ranks), record_bytes, 10, {});
    blocks.begin(records, 1000);
    EXPECT_EQ(blocks.draw(), 0u);
    blocks.pause();
    EXPECT_EQ(blocks.draw(), std::nullopt);
    EXPECT_TRUE(blocks.are_taken());
    EXPECT_FALSE(blocks.has_ended());
    blocks.go_on();
    EXPECT_EQ(blocks.begin(records, 70), 1000u);  // stays
    EXPECT_EQ(draw_all(blocks).size(), 99u);
    EXPECT_TRUE(blocks.has_ended());
  });
  EXPECT_EQ(errors.front(), nullptr) << test::described(errors.front()).second;
}

TEST(RankBlocks, AStopEndsThemOnAllRanks) {
  for (const std::size_t stopping : {0u, 2u}) {
    std::atomic<std::size_t> drawn{0};
    const auto errors = test::LocalRanks(3).run([&](Ranks& ranks) {
      ooc::detail::conversation_of(ranks).begin_job();
      std::stop_source stop;
      RankBlocks blocks(ooc::detail::conversation_of(ranks), all_on(ranks), record_bytes, 10,
                        stop.get_token());
      blocks.begin(records, 10);
      if (ranks.rank() == stopping) stop.request_stop();
      drawn += draw_all(blocks, std::chrono::milliseconds(20)).size();
      EXPECT_TRUE(blocks.has_ended());
      ranks.leave();
    });
    for (const auto& error : errors) EXPECT_EQ(error, nullptr) << test::described(error).second;
    EXPECT_LT(drawn, records / 10);
  }
}

TEST(RankBlocks, AnAbortWakesThreadsThatWait) {
  const auto errors = test::LocalRanks(2).run([&](Ranks& ranks) {
    ooc::detail::conversation_of(ranks).begin_job();
    RankBlocks blocks(ooc::detail::conversation_of(ranks), all_on(ranks), record_bytes, 10, {});
    blocks.begin(records, 10);
    if (!ranks.is_first()) {  // which does not serve it
      std::jthread waits([&] { EXPECT_EQ(blocks.draw(), std::nullopt); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      blocks.abort();
    }
  });
  for (const auto& error : errors) EXPECT_EQ(error, nullptr) << test::described(error).second;
}

/// Ranks whose time is simulated. Returns the part of the time that the first one to be done waits.
double idle(const std::vector<double>& rates, std::uint64_t bytes) {
  std::vector<double> times(rates.size());
  const std::uint64_t count = bytes / record_bytes, unit = (8u << 20) / record_bytes;
  std::uint64_t left = count;
  while (left != 0) {
    const auto next = std::ranges::min_element(times) - times.begin();
    const std::uint64_t given =
        std::min(left, RankBlocks::next_count(left, count, rates.size(), record_bytes, unit));
    // It has asked for the next one before: what it takes is decided one range ahead.
    times[static_cast<std::size_t>(next)] +=
        static_cast<double>(given) / rates[static_cast<std::size_t>(next)];
    left -= given;
  }
  const auto [first, last] = std::ranges::minmax(times);
  return (last - first) / last;
}

TEST(RankBlocks, RanksOfUnequalSpeedEndTogether) {
  constexpr std::uint64_t terabyte = 1'000'000'000'000;
  EXPECT_LT(idle({1, 1}, terabyte), 0.01);
  EXPECT_LT(idle({1, 3, 3, 3, 3, 3, 3, 3}, terabyte), 0.01);
  EXPECT_LT(idle({1, 10, 10, 10}, terabyte), 0.01);
  std::vector<double> many(256, 3);
  many[7] = many[100] = 1;
  EXPECT_LT(idle(many, terabyte), 0.03);
}

}  // namespace
}  // namespace ooc::detail
