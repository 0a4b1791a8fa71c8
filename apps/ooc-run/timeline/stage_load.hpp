#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <ooc/stats.hpp>
#include <optional>
#include <vector>

#include "timeline/recent_rate.hpp"

namespace ooc_run {

/// Fraction of the time in which a stage was busy, 0 to 1.
struct StageShare {
  ooc::TraceEvent::Kind kind{};
  double busy = 0;
};

/// Recent load of the stages of a run, computed from their trace events.
class StageLoad {
 public:
  using Clock = ooc::TraceEvent::Clock;

  /// May be called by any thread.
  void record(const ooc::TraceEvent& event);

  /// Returns the loads of the last seconds before `now`, of all stages with an event, in order.
  std::vector<StageShare> shares(Clock::time_point now);

 private:
  static constexpr double memory = 1;  // seconds

  struct Stage {
    bool seen = false;
    Clock::time_point busy_until{};  // so that overlapping events count once
    Clock::duration busy{};          // since the last call of shares()
    RecentRate share{memory};
  };

  std::mutex mutex_;  // held for about forty nanoseconds, a few times per chunk
  std::array<Stage, 5> stages_;
  std::optional<Clock::time_point> asked_;
};

}  // namespace ooc_run
