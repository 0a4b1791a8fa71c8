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

  /// Call it regularly. Throws Error(stalled) after the timeout. Throws Error(interrupted) if the
  /// run has been to stop for 20 seconds and no request was answered meanwhile: it would wait for
  /// them. (Large requests to a slow server take some seconds, and who ends jobs gives them half a
  /// minute.) After half a minute without an answer, returns a warning once; otherwise an empty
  /// text.
  std::string look(const ooc::Progress& progress, bool is_to_stop);

 private:
  std::optional<double> timeout_;
  bool is_remote_;
  std::optional<double> to_stop_since_{};  // Progress::seconds
  bool warned_ = false;
};

}  // namespace ooc_run
