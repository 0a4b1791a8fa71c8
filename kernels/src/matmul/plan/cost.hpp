#pragma once

#include <cstdint>

#include "matmul/plan/schedule.hpp"

namespace ooc::product {

/// What comes to the device of one operand.
struct Arrivals {
  double loads = 0;       // panels
  double link_bytes = 0;  // over the link
  double read_bytes = 0;  // of these, from the file and not from the cache
};

struct Traffic {
  Arrivals a, b;

  double link_bytes() const { return a.link_bytes + b.link_bytes; }
  double read_bytes() const { return a.read_bytes + b.read_bytes; }
};

/// Bytes of one panel of an operand in its file, the largest.
std::uint64_t panel_bytes(const Problem& problem, const Tiling& tiling, Operand operand);

/// Bytes of the cache's entries: the largest panel of an operand of which some are loaded again,
/// 0 if none are.
std::uint64_t entry_bytes(const Problem& problem, const Tiling& tiling, const Traffic& traffic);

/// The traffic of a tiling without making its steps: exact over the link but for the sizes of the
/// last tiles; from the files, what a cache saves that prefers what is needed soonest.
Traffic estimate_traffic(const Problem& problem, const Limits& limits, const Tiling& tiling);

/// Seconds that the products of a tiling take by themselves.
double multiplying_seconds(const Problem& problem, const Tiling& tiling, const Rates& rates);

/// Seconds that a tiling with this traffic takes.
double predict_seconds(const Problem& problem, const Tiling& tiling, const Traffic& traffic,
                       const Rates& rates);

/// Bytes of a tiling's buffers on the device.
double device_bytes(const Problem& problem, const Tiling& tiling);

}  // namespace ooc::product
