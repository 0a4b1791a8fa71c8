#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ooc/coordinator.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "run/stall_watch.hpp"

namespace ooc_run {

/// Watches all waits of a command, from opening its first file to writing its last one, on a
/// separate thread, because a waiting thread cannot check itself. Ends the process after the
/// timeout.
class StallGuard {
 public:
  /// `quiet`: do not print a note about a long wait.
  StallGuard(std::optional<double> timeout, bool quiet);
  ~StallGuard();
  StallGuard(const StallGuard&) = delete;
  StallGuard& operator=(const StallGuard&) = delete;

  /// Like StallWatch::look(), for the thread of a pass, which knows the progress and can tell other
  /// ranks. While it is called regularly, the guard's own thread does nothing.
  std::string look(const ooc::Progress& progress, bool is_to_stop);

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop);

  bool quiet_;
  StallWatch watch_;
  Clock::time_point last_look_{};  // last call of look()
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace ooc_run
