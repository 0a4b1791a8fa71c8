#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/observe/stall_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ooc::detail {

/// Reports how far a pass has come to PassOptions::progress, if that is set. Used by one thread.
class ProgressReporter {
 public:
  /// `progress` must outlive this object. `total_bytes`: 0 if it is not known.
  ProgressReporter(const std::function<void(const Progress&)>& progress, std::uint64_t total_bytes)
      : progress_(progress), total_bytes_(total_bytes) {}

  /// Reports progress. `bytes`: bytes done; may exceed `total_bytes`, because margins are read
  /// twice. `bytes_through`: bytes of all completed transfers. If they stay the same while
  /// transfers are in flight, the transfers stall.
  void report(std::uint64_t bytes, std::uint64_t bytes_through, std::size_t in_flight) {
    if (!progress_) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    progress_({.bytes = total_bytes_ == 0 ? bytes : std::min(bytes, total_bytes_),
               .total_bytes = total_bytes_,
               .seconds = elapsed.count(),
               .in_flight = in_flight,
               .stalled_seconds = stall_.update(bytes_through, in_flight, elapsed.count())});
  }

 private:
  const std::function<void(const Progress&)>& progress_;
  std::uint64_t total_bytes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  StallTimer stall_;
};

}  // namespace ooc::detail
