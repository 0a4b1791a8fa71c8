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

/// Watches all waits of a command, from the first file that is opened to the last one that is
/// written, on a thread of its own: the one that waits cannot. It ends the process after the
/// timeout.
class StallGuard {
 public:
  /// `quiet`: without the note of a long wait.
  StallGuard(std::optional<double> timeout, bool quiet);
  ~StallGuard();
  StallGuard(const StallGuard&) = delete;
  StallGuard& operator=(const StallGuard&) = delete;

  /// As StallWatch::look(), for the thread of a pass: it can tell how far the run is, and other
  /// ranks. While it looks, the guard does not.
  std::string look(const ooc::Progress& progress, bool is_to_stop);

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop);

  bool quiet_;
  StallWatch watch_;
  Clock::time_point last_look_{};  // of a pass
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace ooc_run
