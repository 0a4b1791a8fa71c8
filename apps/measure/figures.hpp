#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace ooc::measure {

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds that this process has computed, in all its threads.
double cpu_seconds();

/// What is reported of a figure that was measured several times.
struct Spread {
  double median = 0, min = 0, max = 0;
  std::size_t runs = 0;
};

/// All zero for no figures.
Spread spread_of(std::vector<double> figures);

/// {"median", "min", "max", "runs"}.
nlohmann::ordered_json describe(const Spread& spread);

}  // namespace ooc::measure
