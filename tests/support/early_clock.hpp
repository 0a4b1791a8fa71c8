#pragma once

namespace ooc::detail::test {

/// While it exists, all clocks of this program show a time before their epoch, as they may under
/// tools that fake the time. Linking early_clock.cpp replaces clock_gettime().
class EarlyClock {
 public:
  EarlyClock() noexcept;
  ~EarlyClock();
  EarlyClock(const EarlyClock&) = delete;
  EarlyClock& operator=(const EarlyClock&) = delete;
};

}  // namespace ooc::detail::test
