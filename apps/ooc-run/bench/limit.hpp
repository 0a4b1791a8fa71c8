#pragma once

#include <optional>
#include <string_view>

namespace ooc_run {

/// The rates of the stages of a pass, each alone (bytes per second), in their order.
struct StageRates {
  double source = 0;             // a disk, or copies out of the page cache
  std::optional<double> link{};  // none on the CPU
  double kernel = 0;
};

struct Limit {
  double bytes_per_second = 0;
  std::string_view stage;  // that sets it: "source", "link" or "kernel"
};

/// The most that a pass over so many bytes can do, its device having started: all stages work side
/// by side, so that it takes as long as the slowest of them, and then the last chunk has to pass
/// those behind it.
Limit limit_of(const StageRates& rates, double bytes, double chunk_bytes);

}  // namespace ooc_run
