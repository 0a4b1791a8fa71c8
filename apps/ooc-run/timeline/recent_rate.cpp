#include "timeline/recent_rate.hpp"

#include <cmath>

namespace ooc_run {

void RecentRate::add(double amount, double seconds) {
  const double weight = std::exp(-seconds / memory_);
  amount_ = amount_ * weight + amount;
  seconds_ = seconds_ * weight + seconds;
}

}  // namespace ooc_run
