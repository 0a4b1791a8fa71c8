#include <ooc/detail/pass/pass_threads.hpp>

#include <ooc/detail/base/threads.hpp>
#include <ooc/error.hpp>

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

namespace ooc::detail {

namespace {

constexpr std::chrono::nanoseconds report_interval{100'000'000}, attend_interval{250'000};
// Nanoseconds. Lanes sleep for 20 us, as long as a copy takes. With the default of Linux they would
// sleep for 70 us.
constexpr unsigned long finest_timer_slack = 1;

/// Waits until `word` is woken, unless it is not `value`. Returns false if the interval passed
/// instead. The interval is relative: the standard library waits until a time of a clock, which
/// fails if the clock is before its epoch. Tools that set another time for a program can make it
/// so.
bool wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::nanoseconds interval) noexcept {
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(interval.count())};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

void wake(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

PassThreads::~PassThreads() {
  if (!threads_.empty()) abort();
}

void PassThreads::start(std::function<void()> share) {
  threads_.reserve(threads_.size() + 1);  // allocates before the thread runs
  threads_.push_back(start_thread([this, share = std::move(share)](const std::stop_token&) {
    prctl(PR_SET_TIMERSLACK, finest_timer_slack);
    guard(share);
    ++ended_;
    wake(ended_);
  }));
}

void PassThreads::join(const std::function<void()>& report, const std::function<void()>& attend) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point reported = Clock::now();
  const auto interval = attend ? attend_interval : report_interval;
  for (std::uint32_t ended = ended_; ended != threads_.size(); ended = ended_) {
    if (wait_while(ended_, ended, interval)) continue;
    if (attend) guard(attend);
    if (attend && Clock::now() - reported < report_interval) continue;
    guard(report);
    reported = Clock::now();
  }
  threads_.clear();
  ended_ = 0;
  guard(report);
  if (first_) std::rethrow_exception(first_);
  if (was_aborted_) throw Error(ErrorKind::internal, "a pass was aborted without an error");
}

bool PassThreads::guard(const std::function<void()>& body) noexcept {
  try {
    body();
    return true;
  } catch (const Aborted&) {
    // Aborted follows an error that is kept. If there is none, other threads may wait forever.
    if (!was_aborted_.exchange(true)) abort();
  } catch (...) {
    keep(std::current_exception());
  }
  return false;
}

void PassThreads::keep(std::exception_ptr error) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!first_) first_ = std::move(error);
  }
  abort();
}

void PassThreads::abort() noexcept {
  for (MeetingPoint* point : meeting_points_) point->abort();
}

}  // namespace ooc::detail
