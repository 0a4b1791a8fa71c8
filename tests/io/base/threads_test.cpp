#include <ooc/detail/base/threads.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "support/failing_threads.hpp"
#include "support/fault.hpp"

namespace ooc::detail {
namespace {

using test::FailingThreads;
using test::Fault;

TEST(StartThread, RunsUntilItIsAskedToStop) {
  std::atomic<bool> was_asked{false};
  {
    const std::jthread thread = start_thread([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      was_asked = true;
    });
  }
  EXPECT_TRUE(was_asked);
}

TEST(StartThread, SaysWhatToDoWhereNoneCanBeHad) {
  Fault fault(0, Fault::Mode::from_then_on);
  const FailingThreads failing(fault);
  try {
    start_thread([](const std::stop_token&) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_EQ(error.details().errno_value, EAGAIN);
    EXPECT_NE(error.details().hint.find("ulimit -u"), std::string::npos);
  }
}

TEST(StartThreads, FewerWillDoButNotNone) {
  for (std::size_t nth = 0; nth < 4; ++nth) {
    Fault fault(nth, Fault::Mode::from_then_on);
    const FailingThreads failing(fault);
    std::atomic<std::size_t> calls{0};
    std::vector<std::jthread> threads;
    if (nth == 0) {
      EXPECT_THROW(start_threads(threads, 3, [&] { ++calls; }), Error);
    } else {
      start_threads(threads, 3, [&] { ++calls; });
    }
    EXPECT_EQ(threads.size(), nth);
    threads.clear();
    EXPECT_EQ(calls, nth);
  }
}

}  // namespace
}  // namespace ooc::detail
