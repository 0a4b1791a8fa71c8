#pragma once

#include <ooc/coordinator.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Detects disks that no longer answer. To be used by one thread.
class StallWatch {
 public:
  /// `timeout`: seconds to wait for an answer; empty: for ever.
  explicit StallWatch(std::optional<double> timeout) : timeout_(timeout) {}

  /// Call it regularly. Throws Error(stalled) after the timeout. After half a minute without an
  /// answer, returns a warning once; otherwise an empty text.
  std::string look(const ooc::Progress& progress);

 private:
  std::optional<double> timeout_;
  bool warned_ = false;
};

}  // namespace ooc_run
