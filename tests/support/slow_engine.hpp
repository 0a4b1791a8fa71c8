#pragma once

#include <ooc/detail/engine/queue_tuner.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "support/wrapped_engine.hpp"

namespace ooc::detail::test {

/// Advances a simulated clock by 1.5 ms per request, and records the most requests in flight.
class SlowEngine final : public WrappedEngine {
 public:
  SlowEngine(std::unique_ptr<Engine> engine, QueueTuner::Clock::time_point& now, std::size_t& most)
      : WrappedEngine(std::move(engine)), now_(now), most_(most) {}

  Request& wait() override {
    most_ = std::max(most_, in_flight());
    now_ += std::chrono::microseconds(1500);
    return WrappedEngine::wait();
  }

 private:
  QueueTuner::Clock::time_point& now_;
  std::size_t& most_;
};

}  // namespace ooc::detail::test
