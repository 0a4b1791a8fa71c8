#include "http/without_sigpipe.hpp"

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

bool is_blocked() {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGPIPE) == 1;
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

TEST(WithoutSigpipe, TheSignalIsGoneAfterwards) {
  ASSERT_FALSE(is_blocked());
  {
    const WithoutSigpipe blocked;
    EXPECT_TRUE(is_blocked());
    pthread_kill(pthread_self(), SIGPIPE);
    EXPECT_TRUE(is_pending());
  }
  EXPECT_FALSE(is_blocked());  // and this process lives
  EXPECT_FALSE(is_pending());
}

TEST(WithoutSigpipe, ASignalThatWasPendingBeforeStays) {
  const WithoutSigpipe outer;
  pthread_kill(pthread_self(), SIGPIPE);
  { const WithoutSigpipe inner; }
  EXPECT_TRUE(is_blocked());
  EXPECT_TRUE(is_pending());
}

}  // namespace
}  // namespace ooc::detail
