#pragma once

#include <cstddef>
#include <optional>

#include "sizing/layout.hpp"

namespace ooc::detail {

/// Numbers of lanes, of slots and of reads in flight.
struct Occupancy {
  std::size_t lanes, slots, most_slots, queue_depth;
  std::optional<TunedDepth> tuned_depth{};

  /// Returns the host memory of this occupancy (bytes). `beside`: memory outside of the slots.
  std::size_t host_bytes(std::size_t slot_bytes, const HostBytes& beside) const {
    return most_slots * slot_bytes + lanes * beside.per_lane + beside.fixed;
  }
};

/// Chooses the first occupancy, from the most generous one on, that fits the limit of memory,
/// or half of what is available. `layout`: a layout without an occupancy. Throws
/// Error(memory).
Occupancy choose_occupancy(const Facts& facts, const Wishes& wishes, const Layout& layout);

}  // namespace ooc::detail
