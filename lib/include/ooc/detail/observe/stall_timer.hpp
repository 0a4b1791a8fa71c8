#pragma once

#include <cstddef>
#include <cstdint>

namespace ooc::detail {

/// Measures a disk's stall time: how long transfers have been in flight without any completion.
class StallTimer {
 public:
  /// Returns the stall time so far (seconds). Call it periodically. `bytes_done`: bytes transferred
  /// so far; `seconds`: time from any clock.
  double update(std::uint64_t bytes_done, std::size_t in_flight, double seconds) noexcept {
    if (in_flight == 0 || bytes_done != bytes_done_) {
      bytes_done_ = bytes_done;
      since_ = seconds;
    }
    return seconds - since_;
  }

 private:
  std::uint64_t bytes_done_ = 0;
  double since_ = 0;
};

}  // namespace ooc::detail
