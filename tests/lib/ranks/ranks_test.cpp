#include <ooc/ranks.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <tuple>

#include "lib/ranks/ranks_fixture.hpp"
#include "support/data_file.hpp"

namespace ooc::detail::test {
namespace {

using RanksFold = RanksTest;

struct Count : NamedSum {
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "test.count/1";
  void consume(Stream&, DeviceChunk<const float> in, Partial& count) const { count += in.size; }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

TEST_F(RanksFold, HasTheBitsOfOneProcess) {
  const Source source = file_.source_of(values());
  const float expected = alone(RankSum{}, source);
  for (const std::size_t size : {1u, 2u, 3u, 4u, 7u, 8u}) {
    LocalRanks local(size);
    local.set_latency(std::chrono::microseconds(size * 50));
    expect_none(local.run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      for (int i = 0; i < 3; ++i) {
        const auto [sum, stats] = fold(coordinator, RankSum{}, source);
        EXPECT_EQ(sum, expected) << size << " ranks";
        EXPECT_EQ(stats.outcome.bytes, bytes_);
        EXPECT_FALSE(stats.outcome.partial);
      }
    }));
  }
}

TEST_F(RanksFold, SaysWhatEachRankDid) {
  const Source source = file_.source_of(values());
  LocalRanks local(3, 2);
  expect_none(local.run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const Stats stats = fold(coordinator, RankSum{}, source).stats;
    ASSERT_EQ(stats.ranks.size(), 3u);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const RankShare& share = stats.ranks[i];
      EXPECT_EQ(share.rank, i);
      EXPECT_EQ(share.host, "host" + std::to_string(i % 2));
      EXPECT_EQ(share.device, share.bytes == 0 ? "" : "cpu");
      EXPECT_GE(share.idle_seconds, 0);
      bytes += share.bytes;
    }
    EXPECT_EQ(bytes, bytes_);
  }));
}

TEST_F(RanksFold, TakesOperatorsAndSourcesTogether) {
  const Source source = file_.source_of(values());
  LocalRanks local(3);
  const float expected = alone(RankSum{}, source);
  expect_none(local.run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const auto found = fold(coordinator, std::tuple{RankSum{}, Count{}}, source).value;
    EXPECT_EQ(std::get<0>(found), expected);
    EXPECT_EQ(std::get<1>(found), count_);
  }));
}

TEST_F(RanksFold, SeesNeighboursAcrossRanks) {
  const Source source = file_.source_of(values());
  const float expected = alone(WindowSum{}, source);
  expect_none(LocalRanks(4).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    EXPECT_EQ(fold(coordinator, WindowSum{}, source).value, expected);
  }));
}

TEST_F(RanksFold, OfNothingIsThatOfOneProcess) {
  const Source source = file_.source_of(std::vector<float>{});
  expect_none(LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    EXPECT_EQ(fold(coordinator, RankSum{}, source).value, 0);
  }));
}

TEST_F(RanksFold, OfLessThanABlockIsThatOfOneProcess) {
  const Source source = file_.source_of(std::vector<float>{1, 2, 3});
  expect_none(LocalRanks(8).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const auto [sum, stats] = fold(coordinator, RankSum{}, source);
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(stats.layout.device, "cpu");  // of a rank without a block, too
  }));
}

TEST_F(RanksFold, RanksMayHaveOtherChunks) {
  const Source source = file_.source_of(values());
  const float expected = alone(RankSum{}, source);
  expect_none(LocalRanks(4).run([&](Ranks& ranks) {
    Options own = options(ranks);
    own.chunk_bytes =
        (ranks.rank() + 1) * partition * sizeof(float);  // blocks are of 12 partitions
    Coordinator coordinator(cpu(), own);
    EXPECT_EQ(fold(coordinator, RankSum{}, source).value, expected);
  }));
}

TEST_F(RanksFold, ASectionIsDividedToo) {
  const Source source = file_.source_of(values());
  const Source half = shard(source, 1, 2, partition);
  const float expected = alone(RankSum{}, half);
  expect_none(LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    EXPECT_EQ(fold(coordinator, RankSum{}, half).value, expected);
    auto part = collect(coordinator, RankSum{}, half).value;
    ASSERT_EQ(part.covers().size(), 1u);
    EXPECT_EQ(part.covers().front().end(), count_);
  }));
}

/// Waits in each step of a rank until all ranks have had one.
struct Met : RankSum {
  std::atomic<std::size_t>* arrived;
  std::size_t size;
  std::shared_ptr<std::atomic<bool>> has_arrived = std::make_shared<std::atomic<bool>>(false);
  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    if (!has_arrived->exchange(true)) ++*arrived;
    while (*arrived < size) std::this_thread::sleep_for(std::chrono::microseconds(50));
    RankSum::consume(stream, in, sum);
  }
};

TEST_F(RanksFold, AllRanksTakePart) {
  const Source source = file_.source_of(values());
  std::atomic<std::size_t> arrived{0};
  expect_none(LocalRanks(5).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const Stats stats = fold(coordinator, Met{{}, &arrived, ranks.size()}, source).stats;
    for (const RankShare& share : stats.ranks) EXPECT_NE(share.bytes, 0u);
  }));
}

/// Fails when all ranks have had a step.
struct Failing : Met {
  bool fails;
  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    Met::consume(stream, in, sum);
    if (fails) throw Error(ErrorKind::bad_input, "a bad value");
  }
};

TEST_F(RanksFold, TheErrorOfOneIsThatOfAll) {
  const Source source = file_.source_of(values());
  for (const std::size_t failing : {0u, 1u, 4u}) {
    std::atomic<std::size_t> arrived{0};
    const auto errors = LocalRanks(5).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      try {
        fold(coordinator, Failing{{{}, &arrived, ranks.size()}, ranks.rank() == failing}, source);
      } catch (...) {
        EXPECT_EQ(ranks.leave(), failing);
        throw;
      }
    });
    expect_errors(errors, ErrorKind::bad_input, "a bad value");
    const std::string name = "rank " + std::to_string(failing) + " on host0: ";
    for (std::size_t rank = 0; rank < 5; ++rank) {
      const std::string text = described(errors[rank]).second;
      EXPECT_EQ(text.starts_with(name), rank != failing) << text;
    }
  }
}

TEST_F(RanksFold, CopiesOfTheDataWillDo) {
  const Source source = file_.source_of(values());
  const ValuesFile copy;
  copy.source_of(values());
  std::filesystem::last_write_time(copy.path(), {});
  const Source same = open(copy.path(), {.type = type_of<float>()});
  const float expected = alone(RankSum{}, source);
  expect_none(LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    const Source& own = ranks.rank() == 1 ? same : source;
    EXPECT_EQ(fold(coordinator, RankSum{}, own).value, expected);
  }));
}

TEST_F(RanksFold, ARankThatMakesFewerCallsIsAnErrorOfAll) {
  const Source source = file_.source_of(values());
  for (const std::size_t missing : {0u, 2u}) {
    LocalRanks local(3);
    local.set_timeout(2);  // also the time to wait for others after a failure
    const auto errors = local.run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      fold(coordinator, RankSum{}, source);
      if (ranks.rank() != missing) fold(coordinator, RankSum{}, source);
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rank == missing) continue;
      const auto [kind, text] = described(errors[rank]);
      EXPECT_EQ(kind, ErrorKind::usage) << text;
      EXPECT_NE(text.find("has left, and others have not"), std::string::npos) << text;
    }
  }
}

TEST_F(RanksFold, MessagesThatTakeAWhileChangeNothing) {
  const Source source = file_.source_of(values());
  const float expected = alone(RankSum{}, source);
  LocalRanks local(3);
  local.set_latency(std::chrono::milliseconds(50));
  expect_none(local.run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    EXPECT_EQ(fold(coordinator, RankSum{}, source).value, expected);
  }));
}

TEST_F(RanksFold, ASilentRankEndsTheJob) {
  const Source source = file_.source_of(values());
  for (const std::size_t silent : {0u, 2u}) {
    LocalRanks local(3);
    local.set_timeout(2);
    const auto errors = local.run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      fold(coordinator, RankSum{}, source);
      if (ranks.rank() == silent) {
        local.silence(silent);
        return;  // as one that hangs
      }
      fold(coordinator, RankSum{}, source);
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
      if (rank == silent) continue;
      const auto [kind, text] = described(errors[rank]);
      EXPECT_EQ(kind, ErrorKind::stalled) << text;
      const bool knows = silent == 0 || rank == 0;
      EXPECT_NE(text.find(knows ? "has heard nothing of rank " + std::to_string(silent) : ""),
                std::string::npos)
          << text;
    }
  }
}

TEST_F(RanksFold, AStopOnOneRankStopsAll) {
  const Source source = file_.source_of(values());
  for (const std::size_t stopped : {0u, 2u}) {
    std::vector<float> sums(3, -1);
    expect_none(LocalRanks(3).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      std::stop_source stop;
      if (ranks.rank() == stopped) stop.request_stop();
      const auto [sum, stats] =
          fold(coordinator, RankSum{}, source, {.stop = stop.get_token(), .keep_partial = true});
      sums[ranks.rank()] = sum;
      // The others may have done everything before they heard of it.
      EXPECT_EQ(stats.outcome.partial, stats.outcome.bytes != bytes_);
      EXPECT_TRUE(!stats.outcome.partial || !stats.layout.in_order);
    }));
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[0], sums[2]);
  }
}

TEST_F(RanksFold, AStoppedJobIsInterruptedOnAllRanks) {
  const Source source = file_.source_of(values());
  const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    std::stop_source stop;
    stop.request_stop();
    fold(coordinator, RankSum{}, source, {.stop = stop.get_token()});
  });
  expect_errors(errors, ErrorKind::interrupted, "interrupted");
}

TEST(Ranks, KnowTheirPlacesOnTheirMachines) {
  const auto errors = LocalRanks(5, 2).run([](Ranks& ranks) {
    EXPECT_EQ(ranks.rank_on_gpus(), ranks.rank() / 2);
    EXPECT_EQ(ranks.ranks_on_gpus(), ranks.ranks_on_host());
    EXPECT_EQ(ranks.ranks_on_host(), ranks.rank() % 2 == 0 ? 3u : 2u);
    EXPECT_EQ(ranks.name(), "rank " + std::to_string(ranks.rank()) + " on host" +
                                std::to_string(ranks.rank() % 2));
    EXPECT_EQ(ranks.leave(), std::nullopt);
    EXPECT_EQ(ranks.leave(), std::nullopt);
  });
  for (const auto& error : errors) EXPECT_EQ(error, nullptr) << described(error).second;
}

TEST(Ranks, AnErrorOutsideOfJobsIsToldToAll) {
  const auto errors = LocalRanks(4).run([](Ranks& ranks) {
    const Error error(ErrorKind::usage, "no such option");
    ranks.fail(error);
    EXPECT_EQ(ranks.leave(), 0u);  // all have it; rank 0 tells
  });
  for (const auto& error : errors) EXPECT_EQ(error, nullptr) << described(error).second;
}

}  // namespace
}  // namespace ooc::detail::test
