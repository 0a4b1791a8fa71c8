#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/io_meter.hpp>
#include <optional>
#include <string>

namespace ooc_run {

/// Judges waits for disks, servers and pipes that do not answer. To be used by one thread at a
/// time.
class StallWatch {
 public:
  /// `timeout`: seconds to wait for an answer; empty: no limit, except for a run that is to stop.
  explicit StallWatch(std::optional<double> timeout) : timeout_(timeout) {}

  /// Call it regularly. `progress`: of a pass; null before the first one and after the last one.
  /// Throws Error(stalled) after the timeout. Throws Error(interrupted) if a run that is to stop
  /// has waited for 20 seconds without an answer: it cannot stop before. (Large requests to a slow
  /// server take some seconds, and job schedulers allow about half a minute.) After half a minute
  /// without an answer, returns a warning once; otherwise an empty text.
  std::string look(const ooc::detail::IoMeter::Stall& stall, const ooc::Progress* progress,
                   bool is_to_stop);

 private:
  std::optional<double> timeout_;
  std::optional<double> to_stop_since_{};  // Progress::seconds
  bool warned_ = false;
};

}  // namespace ooc_run
