#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <ooc/trace_event.hpp>
#include <optional>
#include <vector>

#include "timeline/recent_rate.hpp"

namespace ooc_run {

/// The part of the time in which a stage had something under way, 0 to 1.
struct StageShare {
  ooc::TraceEvent::Kind kind{};
  double busy = 0;
};

/// How busy the stages of a run are, by what they report.
class StageLoad {
 public:
  using Clock = ooc::TraceEvent::Clock;

  /// Any thread.
  void record(const ooc::TraceEvent& event);

  /// Of the last seconds before `now`, for all stages that have done something, in their order.
  std::vector<StageShare> shares(Clock::time_point now);

 private:
  static constexpr double memory = 1;  // seconds

  struct Stage {
    bool seen = false;
    Clock::time_point busy_until{};  // what overlaps is counted once
    Clock::duration busy{};          // since the shares were asked for
    RecentRate share{memory};
  };

  std::mutex mutex_;  // held for some forty nanoseconds, a few times a chunk
  std::array<Stage, 5> stages_;
  std::optional<Clock::time_point> asked_;
};

}  // namespace ooc_run
