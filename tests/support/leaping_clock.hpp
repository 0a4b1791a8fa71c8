#pragma once

#include <chrono>
#include <cstdint>

#include "support/random.hpp"

namespace ooc::detail::test {

/// A clock for one thread. Each reading advances it by a random time, from a millisecond to about a
/// minute.
class LeapingClock {
 public:
  explicit LeapingClock(Random& random) : random_(random) {}

  std::chrono::steady_clock::time_point operator()() {
    return now_ += std::chrono::milliseconds(std::int64_t{1} << random_.below(17));
  }

 private:
  Random& random_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};  // not its epoch
};

}  // namespace ooc::detail::test
