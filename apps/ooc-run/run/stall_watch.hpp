#pragma once

#include <ooc/coordinator.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Watches whether the disks still answer. Belongs to one thread.
class StallWatch {
 public:
  /// `timeout` (seconds): how long to wait for an answer; none: for ever.
  explicit StallWatch(std::optional<double> timeout) : timeout_(timeout) {}

  /// To be called from time to time. Throws Error(stalled) after the timeout. Returns a sentence
  /// to show when half a minute has passed without an answer, once; else nothing.
  std::string look(const ooc::Progress& progress);

 private:
  std::optional<double> timeout_;
  bool warned_ = false;
};

}  // namespace ooc_run
