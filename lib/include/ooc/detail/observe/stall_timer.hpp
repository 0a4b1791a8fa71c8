#pragma once

#include <cstddef>
#include <cstdint>

namespace ooc {

/// For how long a disk owes an answer: transfers are in flight, and none has come back since.
class StallTimer {
 public:
  /// To be called again and again, with the bytes that are through by now; `seconds`: of any clock.
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

}  // namespace ooc
