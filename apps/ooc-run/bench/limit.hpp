#pragma once

#include <optional>
#include <string_view>

namespace ooc_run {

/// Rates of the stages of a pass in their order, each measured alone (bytes per second).
struct StageRates {
  double source = 0;             // the disk, or copies out of the page cache
  std::optional<double> link{};  // empty on the CPU
  double kernel = 0;
};

/// The highest possible rate of a pass.
struct RateLimit {
  double bytes_per_second = 0;
  std::string_view stage;  // the slowest stage: "source", "link" or "kernel"
};

/// Returns the highest possible rate of a pass over `bytes` bytes once the device has started. The
/// stages overlap, so the pass takes as long as the slowest stage plus the time of the last chunk
/// in the stages after it.
RateLimit limit_of(const StageRates& rates, double bytes, double chunk_bytes);

}  // namespace ooc_run
