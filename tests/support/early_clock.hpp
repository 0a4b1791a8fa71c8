#pragma once

namespace ooc::test {

/// While it lives, all clocks of this program show a time before their epoch, as tools that set
/// another time for a program may make them. Linking early_clock.cpp replaces clock_gettime().
class EarlyClock {
 public:
  EarlyClock() noexcept;
  ~EarlyClock();
  EarlyClock(const EarlyClock&) = delete;
  EarlyClock& operator=(const EarlyClock&) = delete;
};

}  // namespace ooc::test
