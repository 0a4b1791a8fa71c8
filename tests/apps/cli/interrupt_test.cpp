#include "cli/interrupt.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

namespace ooc_run {
namespace {

using namespace std::chrono_literals;

constexpr int went_on = 7;  // not an exit code of the program

/// Gives both signals their default action. A job in the background may have inherited that they
/// are ignored, which Interrupt respects.
void receive_signals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void wait_for_stop(const Interrupt& interrupt) {
  while (!interrupt.token().stop_requested()) std::this_thread::sleep_for(1ms);
}

[[noreturn]] void take_two_signals_at_once() {
  receive_signals();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  kill(getpid(), SIGINT);
  kill(getpid(), SIGTERM);
  {
    const Interrupt interrupt;
    interrupt.allow_more_time();
    wait_for_stop(interrupt);
    std::this_thread::sleep_for(100ms);  // the second signal must not end the process
    if (interrupt.exit_code() != 128 + SIGINT) _exit(1);
  }
  _exit(went_on);
}

/// Repeats SIGINT, as an impatient user does while a run is ending.
[[noreturn]] void signal_until_it_ends(const std::optional<std::string>& last_words) {
  receive_signals();
  std::fflush(stdout);  // what the test program has said
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Interrupt interrupt;
  interrupt.set_last_words("an earlier document\n");
  interrupt.set_last_words(last_words);
  interrupt.allow_more_time();
  for (;;) {
    kill(getpid(), SIGINT);
    std::this_thread::sleep_for(50ms);
  }
}

TEST(InterruptDeathTest, SignalsThatComeTogetherAreOneRequest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the process has threads
  EXPECT_EXIT(take_two_signals_at_once(), testing::ExitedWithCode(went_on), "^$");
}

TEST(InterruptDeathTest, AnotherSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(signal_until_it_ends("{}\n"), testing::ExitedWithCode(128 + SIGINT),
              "^\\{\\}\nooc-run: error: interrupted; ended without a result\n$");
  EXPECT_EXIT(signal_until_it_ends({}), testing::ExitedWithCode(128 + SIGINT), "^$");
}

/// Signals once, and does not end.
[[noreturn]] void signal_and_hang() {
  receive_signals();
  Interrupt interrupt;
  interrupt.set_last_words("");
  kill(getpid(), SIGTERM);
  for (;;) pause();
}

TEST(InterruptDeathTest, ARunThatDoesNotStopIsEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(signal_and_hang(), testing::ExitedWithCode(128 + SIGTERM),
              "^ooc-run: error: interrupted; ended without a result\n$");
}

}  // namespace
}  // namespace ooc_run
