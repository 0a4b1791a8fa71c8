#pragma once

namespace ooc_run {

/// A rate of late: what was added some seconds ago counts less and less.
class RecentRate {
 public:
  /// `memory`: after so many seconds an amount counts a third.
  explicit RecentRate(double memory) : memory_(memory) {}

  /// What came in the seconds since the last call.
  void add(double amount, double seconds);

  /// 0 before that is known.
  double per_second() const { return seconds_ > 0 ? amount_ / seconds_ : 0; }

 private:
  double memory_;
  double amount_ = 0, seconds_ = 0;  // weighted alike
};

}  // namespace ooc_run
