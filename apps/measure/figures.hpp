#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace ooc::detail::measure {

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Returns the CPU time of this process, user and system, over all its threads (seconds).
double cpu_seconds();

/// Statistics of a figure that was measured several times.
struct Spread {
  double median = 0, min = 0, max = 0;
  std::size_t runs = 0;
};

/// Returns zeros if there are no figures.
Spread spread_of(std::vector<double> figures);

/// Returns {"median", "min", "max", "runs"}.
nlohmann::ordered_json describe(const Spread& spread);

}  // namespace ooc::detail::measure
