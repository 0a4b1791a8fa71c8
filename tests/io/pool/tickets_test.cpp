#include <ooc/detail/pool/tickets.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace ooc::detail {
namespace {

TEST(Tickets, AreGivenOutInOrderUntilThereAreNoMore) {
  Tickets tickets(3);
  EXPECT_EQ(tickets.next(), 0u);
  EXPECT_EQ(tickets.draw(), 0u);
  EXPECT_EQ(tickets.draw(), 1u);
  EXPECT_EQ(tickets.next(), 2u);
  EXPECT_EQ(tickets.end(), 3u);
  EXPECT_EQ(tickets.draw(), 2u);
  EXPECT_EQ(tickets.draw(), std::nullopt);
  EXPECT_EQ(tickets.draw(), std::nullopt);
  EXPECT_EQ(tickets.end(), 3u);
  EXPECT_EQ(Tickets(0).draw(), std::nullopt);
}

TEST(Tickets, AreNotGivenOutAfterAStopRequest) {
  std::stop_source stop;
  Tickets tickets(10, stop.get_token());
  tickets.draw();
  tickets.draw();
  stop.request_stop();
  EXPECT_EQ(tickets.draw(), std::nullopt);
  EXPECT_EQ(tickets.end(), 2u);
}

TEST(Tickets, ThatAreDrawnAreAPrefixWheneverTheyAreStopped) {
  constexpr std::size_t count = 1000;
  for (int round = 0; round < 300; ++round) {
    std::stop_source stop;
    Tickets tickets(count, stop.get_token());
    std::vector<std::atomic<int>> drawn(count);
    std::vector<std::size_t> ends(3);
    {
      std::vector<std::jthread> threads;
      for (std::size_t& end : ends) {
        threads.emplace_back([&] {
          while (const auto step = tickets.draw()) ++drawn[*step];
          end = tickets.end();
        });
      }
      for (int i = 0; i < round; ++i) std::this_thread::yield();
      stop.request_stop();
    }
    for (const std::size_t end : ends) EXPECT_EQ(end, tickets.end());
    for (std::size_t step = 0; step < count; ++step) {
      EXPECT_EQ(drawn[step], step < tickets.end() ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace ooc::detail
