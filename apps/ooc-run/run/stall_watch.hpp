#pragma once

#include <ooc/coordinator.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Detects disks and servers that no longer answer. To be used by one thread.
class StallWatch {
 public:
  /// `timeout`: seconds to wait for an answer; empty: for ever, but not for a run that is to stop.
  /// `is_remote`: the data come from a server.
  StallWatch(std::optional<double> timeout, bool is_remote)
      : timeout_(timeout), is_remote_(is_remote) {}

  /// Call it regularly. Throws Error(stalled) after the timeout, and Error(interrupted) after five
  /// seconds if the run is to stop: it waits for its requests otherwise. After half a minute
  /// without an answer, returns a warning once; otherwise an empty text.
  std::string look(const ooc::Progress& progress, bool is_to_stop);

 private:
  std::optional<double> timeout_;
  bool is_remote_;
  bool warned_ = false;
};

}  // namespace ooc_run
