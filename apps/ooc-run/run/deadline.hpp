#pragma once

#include <functional>
#include <thread>

namespace ooc_run {

/// Calls a function on another thread after `seconds`, unless this object is destroyed before. For
/// calls that have no timeout of their own.
class Deadline {
 public:
  Deadline(double seconds, std::function<void()> miss);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace ooc_run
