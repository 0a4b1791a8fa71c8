#include "timeline/stage_load.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ooc_run {
namespace {

double seconds_of(ooc::TraceEvent::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void StageLoad::record(const ooc::TraceEvent& event) {
  const std::scoped_lock lock(mutex_);
  if (!asked_) asked_ = event.begin;
  Stage& stage = stages_[static_cast<std::size_t>(event.kind)];
  stage.seen = true;
  const Clock::time_point begin = std::max(event.begin, stage.busy_until);
  if (event.end <= begin) return;
  stage.busy += event.end - begin;
  stage.busy_until = event.end;
}

std::vector<StageShare> StageLoad::shares(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  std::vector<StageShare> shares;
  if (!asked_) return shares;
  const double seconds = seconds_of(now - std::exchange(*asked_, now));
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.share.add(seconds_of(std::exchange(stage.busy, {})), seconds);
    // An event is recorded at its end and may have begun before the last call.
    const double busy = std::min(1.0, stage.share.per_second());
    if (stage.seen) shares.push_back({static_cast<ooc::TraceEvent::Kind>(i), busy});
  }
  return shares;
}

}  // namespace ooc_run
