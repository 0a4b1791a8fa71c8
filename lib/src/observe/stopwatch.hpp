#pragma once

#include <chrono>

namespace ooc::detail {

/// Measures the time since its construction (seconds).
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds its lifetime to `total` (seconds).
class Timed {
 public:
  explicit Timed(double& total) : total_(total) {}
  ~Timed() { total_ += watch_.seconds(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& total_;
  Stopwatch watch_;
};

}  // namespace ooc::detail
