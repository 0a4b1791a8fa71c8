#pragma once

#include <cstdint>

#include "matmul/plan/schedule.hpp"

namespace ooc::detail::product {

inline double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

/// The panels of one operand that are loaded to the device.
struct Arrivals {
  double loads = 0;       // number of panels
  double link_bytes = 0;  // over the link
  double read_bytes = 0;  // part of link_bytes that is not from the panel cache
};

struct Traffic {
  Arrivals a, b;

  double link_bytes() const { return a.link_bytes + b.link_bytes; }
  double read_bytes() const { return a.read_bytes + b.read_bytes; }
};

/// Bytes of the largest panel of an operand in its file.
std::uint64_t panel_bytes(const Problem& problem, const Tiling& tiling, Operand operand);

/// Bytes of a cache entry: those of the largest panel among the operands that are loaded more than
/// once; 0 if there is no such operand.
std::uint64_t entry_bytes(const Problem& problem, const Tiling& tiling, const Traffic& traffic);

/// Estimates the traffic of a tiling without making its steps. Link traffic is exact except for the
/// sizes of the last tiles. File traffic assumes that the cache keeps what is needed soonest.
Traffic estimate_traffic(const Problem& problem, const Limits& limits, const Tiling& tiling);

/// Seconds for the products of a tiling, without loads and transfers.
double multiplying_seconds(const Problem& problem, const Tiling& tiling, const Rates& rates);

/// Seconds to load a panel of so many rows and columns, from its file or else from the cache.
double load_seconds(const Problem& problem, Operand operand, std::uint64_t rows,
                    std::uint64_t columns, bool from_file, const Rates& rates);

/// Seconds of the product of a panel of `rows` x `inner` and one of `inner` x `columns`.
double product_seconds(std::uint64_t rows, std::uint64_t columns, std::uint64_t inner,
                       const Rates& rates);

/// Seconds to send a tile of C to its file.
double send_seconds(const Problem& problem, std::uint64_t rows, std::uint64_t columns,
                    const Rates& rates);

/// Estimates the total seconds of a tiling with this traffic. It does not make the steps;
/// seconds_of() is more accurate but needs them.
double estimate_seconds(const Problem& problem, const Tiling& tiling, const Traffic& traffic,
                        const Rates& rates);

/// Bytes of all buffers of a tiling on the device.
double device_bytes(const Problem& problem, const Tiling& tiling);

}  // namespace ooc::detail::product
