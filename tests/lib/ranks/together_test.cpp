#include <ooc/detail/ranks/together.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "lib/ranks/ranks_fixture.hpp"

namespace ooc::detail::test {
namespace {

using RanksTogether = RanksTest;

std::vector<std::byte> message_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_F(RanksTogether, EachHearsAllByTheirNumbers) {
  for (const std::size_t size : {1u, 2u, 5u}) {
    expect_none(LocalRanks(size).run([&](Ranks& ranks) {
      for (int i = 0; i < 3; ++i) {
        const auto all = exchange(
            &ranks, message_of(std::string(ranks.rank(), 'x') + "of " + std::to_string(i)));
        ASSERT_EQ(all.size(), size);
        for (std::size_t rank = 0; rank < size; ++rank) {
          EXPECT_EQ(all[rank], message_of(std::string(rank, 'x') + "of " + std::to_string(i)));
        }
      }
    }));
  }
}

TEST_F(RanksTogether, OneProcessHearsItself) {
  const auto all = exchange(nullptr, message_of("alone"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front(), message_of("alone"));
  EXPECT_EQ(share_progress(nullptr, 7), 7u);
  bool is_done = false;
  do_as_first(nullptr, [&] { is_done = true; });
  EXPECT_TRUE(is_done);
  EXPECT_EQ(or_fail_together(nullptr, [] { return 5; }), 5);
}

TEST_F(RanksTogether, SharesAreOfAllRanks) {
  expect_none(LocalRanks(3, 2).run([](Ranks& ranks) {
    const double busy = 1.0 + static_cast<double>(ranks.rank());
    const auto shares =
        exchange_shares(ranks, {.device = "cpu", .bytes = 10 * ranks.rank(), .busy_seconds = busy});
    ASSERT_EQ(shares.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(shares[i].rank, i);
      EXPECT_EQ(shares[i].host, "host" + std::to_string(i % 2));
      EXPECT_EQ(shares[i].bytes, 10 * i);
      EXPECT_EQ(shares[i].idle_seconds, 2.0 - static_cast<double>(i));
    }
  }));
}

TEST_F(RanksTogether, TheFirstKnowsTheProgressOfAll) {
  expect_none(LocalRanks(3).run([](Ranks& ranks) {
    EXPECT_GE(share_progress(&ranks, 100), 100u);
    if (!ranks.is_first()) {  // until rank 0 knows
      exchange(&ranks, {});
      return;
    }
    while (share_progress(&ranks, 100) != 300) {
      ranks.attend();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    exchange(&ranks, {});
  }));
}

TEST_F(RanksTogether, TheFirstWorksAndOthersWait) {
  std::atomic<std::size_t> works{0};
  expect_none(LocalRanks(4).run([&](Ranks& ranks) {
    do_as_first(&ranks, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_TRUE(ranks.is_first());
      ++works;
    });
    EXPECT_EQ(works, 1u);
  }));
}

TEST_F(RanksTogether, AllFailIfOneDoes) {
  const auto errors = LocalRanks(3).run([](Ranks& ranks) {
    or_fail_together(&ranks, [&] {
      if (ranks.rank() == 1) throw std::runtime_error("of rank 1");
      exchange(&ranks, {});
    });
  });
  expect_errors({errors[0], errors[2]}, ErrorKind::internal, "of rank 1");
}

TEST_F(RanksTogether, WorkThatFailsBesideIsRethrown) {
  std::atomic<int> attended{0};
  EXPECT_THROW(work_beside([&] { ++attended; },
                           [&] {
                             while (attended == 0) std::this_thread::yield();
                             throw std::runtime_error("of the work");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace ooc::detail::test
