#pragma once

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace ooc::detail {

/// Bounds the time for which a system call that fails with EINTR, EAGAIN or the like is repeated.
/// An error that lasts for ten seconds is final. Used by one thread.
class Repeats {
 public:
  explicit Repeats(std::chrono::milliseconds longest = std::chrono::seconds(10))
      : longest_(longest) {}

  /// True if a call that has just failed may be repeated.
  bool may_repeat() {
    const Clock::time_point now = Clock::now();
    if (!std::exchange(is_repeating_, true)) since_ = now;
    const Clock::duration repeated = now - since_;
    if (repeated >= longest_) return false;
    constexpr std::chrono::milliseconds brief(20), pause(1);
    if (repeated > brief) std::this_thread::sleep_for(pause);  // leave the core to others
    last_ = Clock::now();
    return true;
  }

  /// Like may_repeat(), for a call that waits: if it waited before it failed, the time starts anew.
  /// So occasional signals, such as those of a profiler, do not end a long wait.
  bool may_wait_again() {
    constexpr std::chrono::milliseconds brief(20);
    if (Clock::now() - last_ >= brief) is_repeating_ = false;
    return may_repeat();
  }

  /// Reports that a call has made progress, so that the time starts anew.
  void reset() noexcept { is_repeating_ = false; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::duration longest_;
  bool is_repeating_ = false;
  Clock::time_point since_{}, last_{};  // the first repeat in a row; the last one
};

/// Repeats a system call while it fails with an errno for which `may_pass` returns true. Returns
/// its last result, and leaves errno as the call set it.
template <class Call, class MayPass>
auto repeat_while(const Call& call, const MayPass& may_pass) {
  Repeats repeats;
  for (;;) {
    const auto result = call();
    const int errno_value = errno;
    if (result >= 0 || !may_pass(errno_value)) return result;
    if (!repeats.may_repeat()) {
      errno = errno_value;
      return result;
    }
  }
}

/// Repeats a system call while a signal interrupts it.
template <class Call>
auto repeat_interrupted(const Call& call) {
  return repeat_while(call, [](int errno_value) { return errno_value == EINTR; });
}

/// Repeats a read of a file while it fails with EINTR or with EAGAIN, as on some file systems.
template <class Call>
auto repeat_read(const Call& call) {
  return repeat_while(
      call, [](int errno_value) { return errno_value == EINTR || errno_value == EAGAIN; });
}

}  // namespace ooc::detail
