#include "support/early_clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {

constexpr std::time_t seconds_early = 4'000'000'000;  // more than since 1970
std::atomic<bool> is_early{false};

}  // namespace

ooc::detail::test::EarlyClock::EarlyClock() noexcept {
  is_early = true;
}

ooc::detail::test::EarlyClock::~EarlyClock() {
  is_early = false;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && is_early) time->tv_sec -= seconds_early;
  return result;
}
