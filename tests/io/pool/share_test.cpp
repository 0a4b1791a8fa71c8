#include <ooc/detail/pool/share.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/random.hpp"

namespace ooc::detail {
namespace {

constexpr std::uint64_t block = 8;

TEST(Share, TakesTheNextBlockWhenItHasNothingLeft) {
  LocalBlocks blocks({});
  EXPECT_EQ(blocks.begin(20, block), block);
  Share one(blocks, 20, block), other(blocks, 20, block);
  EXPECT_TRUE(one.has(0));
  EXPECT_TRUE(one.has(7));
  EXPECT_FALSE(blocks.are_taken());
  EXPECT_TRUE(other.has(3));
  EXPECT_EQ(other.place(3), 11u);
  EXPECT_TRUE(one.has(8));
  EXPECT_EQ(one.place(8), 16u);
  EXPECT_EQ(one.place(1), 1u);
  EXPECT_TRUE(one.has(11));
  EXPECT_FALSE(one.has(12));  // the last block is short
  EXPECT_FALSE(one.has(16));
  EXPECT_FALSE(other.has(8));
  EXPECT_TRUE(other.has(7));
  EXPECT_EQ(one.block_records(), block);
  EXPECT_TRUE(blocks.are_taken());
  EXPECT_EQ(one.taken(), (std::vector<RecordRange>{{0, 8}, {16, 4}}));
  EXPECT_EQ(other.taken(), (std::vector<RecordRange>{{8, 8}}));
}

TEST(Share, OfNothingIsEmpty) {
  LocalBlocks blocks({});
  blocks.begin(0, block);
  const Share nothing(blocks, 0, block);
  EXPECT_FALSE(Share(blocks, 0, block).has(0));
  EXPECT_TRUE(nothing.taken().empty());
}

TEST(Share, TakesNoMoreAfterAStop) {
  std::stop_source stop;
  LocalBlocks blocks(stop.get_token());
  blocks.begin(80, block);
  Share share(blocks, 80, block);
  EXPECT_TRUE(share.has(8));
  stop.request_stop();
  EXPECT_TRUE(share.has(15));
  EXPECT_FALSE(share.has(16));
  EXPECT_TRUE(blocks.are_taken());
  EXPECT_EQ(share.taken(), (std::vector<RecordRange>{{0, 8}, {8, 8}}));
}

TEST(LocalBlocks, AreWholeStepsAndNotTooMany) {
  LocalBlocks few({});
  EXPECT_EQ(few.begin(1000, 10), 10u);
  LocalBlocks many({});
  constexpr std::uint64_t steps = std::uint64_t{5} << 20;
  EXPECT_EQ(many.begin(10 * steps, 10), 50u);
}

TEST(LocalBlocks, EndWhenTheyAreAborted) {
  LocalBlocks blocks({});
  blocks.begin(80, block);
  EXPECT_EQ(blocks.draw(), 0u);
  blocks.abort();
  EXPECT_TRUE(blocks.are_taken());
  EXPECT_EQ(blocks.draw(), std::nullopt);
}

// A reader and several lanes ask for records at once.
TEST(Share, SharesOfManyThreadsHaveEachRecordOnce) {
  constexpr std::uint64_t records = 1000 * block + 5;
  constexpr std::size_t shares_count = 3, threads_each = 3;
  LocalBlocks blocks({});
  blocks.begin(records, block);
  std::vector<std::unique_ptr<Share>> shares;
  std::vector<std::vector<std::uint64_t>> places(shares_count);
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < shares_count; ++i) {
      shares.push_back(std::make_unique<Share>(blocks, records, block));
    }
    for (std::size_t i = 0; i < shares_count * threads_each; ++i) {
      threads.emplace_back([&, i] {
        Share& share = *shares[i % shares_count];
        std::vector<std::uint64_t> found;
        for (std::uint64_t record = i / shares_count; share.has(record); record += threads_each) {
          found.push_back(share.place(record));
        }
        EXPECT_TRUE(std::ranges::is_sorted(found));
        const std::scoped_lock lock(mutex);
        std::ranges::copy(found, std::back_inserter(places[i % shares_count]));
      });
    }
  }
  std::vector<std::uint64_t> all;
  for (const auto& of_share : places) std::ranges::copy(of_share, std::back_inserter(all));
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), records);
  for (std::uint64_t i = 0; i < records; ++i) ASSERT_EQ(all[i], i);
}

/// Devices whose time is simulated. Each has some steps in hand, as a reader that is ahead.
class Devices {
 public:
  Devices(std::vector<double> rates, std::uint64_t records)
      : rates_(std::move(rates)), records_(records) {}

  /// Returns the part of the time that the device waits which waits longest for the others.
  double idle(std::uint64_t steps_ahead) {
    LocalBlocks blocks({});
    blocks.begin(records_, block);
    std::vector<std::unique_ptr<Share>> shares;
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      shares.push_back(std::make_unique<Share>(blocks, records_, block));
    }
    std::vector<double> times(rates_.size());
    std::vector<std::uint64_t> done(rates_.size());
    std::vector<bool> ended(rates_.size());
    for (;;) {  // the device that is the first to be free goes on
      std::size_t next = rates_.size();
      for (std::size_t i = 0; i < rates_.size(); ++i) {
        if (!ended[i] && (next == rates_.size() || times[i] < times[next])) next = i;
      }
      if (next == rates_.size()) break;
      shares[next]->has(done[next] + steps_ahead);
      if (!shares[next]->has(done[next])) {
        ended[next] = true;
        continue;
      }
      times[next] += 1 / rates_[next];
      ++done[next];
    }
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), std::uint64_t{0}), records_);
    const auto [first, last] = std::ranges::minmax(times);
    return (last - first) / last;
  }

 private:
  std::vector<double> rates_;  // records in a second
  std::uint64_t records_;
};

TEST(Share, DevicesOfUnequalSpeedEndTogether) {
  constexpr std::uint64_t records = 20'000;  // in blocks of 8: 40 GB of 16 MiB each
  EXPECT_LT(Devices({1, 1}, records).idle(8), 0.03);
  EXPECT_LT(Devices({1, 3}, records).idle(8), 0.03);
  EXPECT_LT(Devices({1, 10}, records).idle(8), 0.03);
  test::Random random(1);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> rates;
    for (int k = 0; k < 8; ++k) rates.push_back(static_cast<double>(random.between(1, 4)));
    EXPECT_LT(Devices(rates, records).idle(8), 0.03) << i;
  }
}

}  // namespace
}  // namespace ooc::detail
