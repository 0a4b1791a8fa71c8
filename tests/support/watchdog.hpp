#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace ooc::detail::test {

/// Prints the number of a run and aborts the process if the run takes so long that it must hang.
class Watchdog {
 public:
  Watchdog() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// Starts the time of another run. Allocates nothing.
  void begin(std::uint64_t run) noexcept {
    run_ = run;
    ++begun_;
  }

 private:
  void watch(const std::stop_token& stop) {
    constexpr int most_seconds = 10;
    std::unique_lock lock(mutex_);
    std::uint64_t seen = 0;
    for (int seconds = 0; seconds < most_seconds; ++seconds) {
      ended_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
      if (stop.stop_requested()) return;
      if (const std::uint64_t begun = begun_; begun != seen) {
        seen = begun;
        seconds = 0;
      }
    }
    std::fprintf(stderr, "run %llu hangs\n", static_cast<unsigned long long>(run_.load()));
    std::abort();
  }

  std::atomic<std::uint64_t> run_{0}, begun_{0};
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace ooc::detail::test
