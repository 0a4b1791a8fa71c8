#pragma once

namespace ooc_run {

/// An exponentially weighted average rate: the weight of an amount decays with its age.
class RecentRate {
 public:
  /// `memory`: time constant of the decay (seconds). After that time, the weight is 1/e.
  explicit RecentRate(double memory) : memory_(memory) {}

  /// Adds the amount of the `seconds` since the last call.
  void add(double amount, double seconds);

  /// Returns 0 before anything was added.
  double per_second() const { return seconds_ > 0 ? amount_ / seconds_ : 0; }

 private:
  double memory_;
  double amount_ = 0, seconds_ = 0;  // with the same weights
};

}  // namespace ooc_run
