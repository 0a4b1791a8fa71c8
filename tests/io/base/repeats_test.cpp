#include <ooc/detail/base/repeats.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ooc::detail {
namespace {

using namespace std::chrono_literals;

TEST(Repeats, EndAfterATimeOfNothingElse) {
  Repeats repeats(40ms);
  const auto begin = std::chrono::steady_clock::now();
  int count = 0;
  while (repeats.may_repeat()) ++count;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);
  EXPECT_GT(count, 1);
  EXPECT_FALSE(repeats.may_repeat());
}

TEST(Repeats, BeginAnewAfterACallThatDidSomething) {
  Repeats repeats(40ms);
  while (repeats.may_repeat()) {
  }
  repeats.reset();
  EXPECT_TRUE(repeats.may_repeat());
}

TEST(Repeats, AreNoneIfACallHasWaited) {
  Repeats repeats(40ms);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(repeats.may_wait_again());
    std::this_thread::sleep_for(25ms);
  }
  while (repeats.may_wait_again()) {
  }
}

TEST(Repeats, OfACallThatIsInterrupted) {
  int calls = 0;
  const auto call = [&] {
    errno = EINTR;
    return ++calls < 5 ? -1 : 7;
  };
  EXPECT_EQ(repeat_interrupted(call), 7);
  EXPECT_EQ(calls, 5);
  const auto failing = [] {
    errno = EIO;
    return -1;
  };
  EXPECT_EQ(repeat_interrupted(failing), -1);
  EXPECT_EQ(errno, EIO);
}

}  // namespace
}  // namespace ooc::detail
