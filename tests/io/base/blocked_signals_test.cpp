#include <ooc/detail/base/blocked_signals.hpp>

#include <ooc/detail/base/threads.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace ooc::detail {
namespace {

bool is_blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

TEST(BlockedSignals, AreAsTheyWereAfterwards) {
  EXPECT_FALSE(is_blocked(SIGUSR1));
  {
    const BlockedSignals blocked;
    EXPECT_TRUE(is_blocked(SIGUSR1));
    { const BlockedSignals again; }
    EXPECT_TRUE(is_blocked(SIGUSR1));
  }
  EXPECT_FALSE(is_blocked(SIGUSR1));
}

TEST(BlockedSignals, AreUnblockedOnAThreadThatAsks) {
  const BlockedSignals blocked;
  std::thread([&] {
    EXPECT_TRUE(is_blocked(SIGUSR1));
    blocked.unblock_here();
    EXPECT_FALSE(is_blocked(SIGUSR1));
  }).join();
  EXPECT_TRUE(is_blocked(SIGUSR1));
}

TEST(BlockedSignals, StayBlockedOnAThreadOfTheLibrary) {
  start_thread([](const std::stop_token&) {
    for (const int signal : {SIGUSR1, SIGINT, SIGTERM, SIGCHLD, SIGXFSZ, SIGPIPE, SIGRTMIN}) {
      EXPECT_TRUE(is_blocked(signal)) << signal;
    }
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
      EXPECT_FALSE(is_blocked(fault)) << fault;
    }
  }).join();
  EXPECT_FALSE(is_blocked(SIGUSR1));
}

}  // namespace
}  // namespace ooc::detail
