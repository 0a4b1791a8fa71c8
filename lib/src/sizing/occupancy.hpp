#pragma once

#include <cstddef>
#include <optional>

#include "sizing/layout.hpp"

namespace ooc {

/// Numbers of lanes, of slots and of reads in flight.
struct Occupancy {
  std::size_t lanes, slots, most_slots, queue_depth;
  std::optional<TunedDepth> tuned_depth{};

  /// Host memory that it takes (bytes). `buffer_bytes`: of a lane's buffers in host memory.
  std::size_t host_bytes(std::size_t slot_bytes, std::size_t buffer_bytes) const {
    return most_slots * slot_bytes + lanes * buffer_bytes;
  }
};

/// Chooses the first occupancy, from the most generous one on, that fits the limit of memory,
/// or half of what is available.
/// `layout`: without one. Throws Error(memory).
Occupancy choose_occupancy(const Facts& facts, const Wishes& wishes, const Layout& layout);

}  // namespace ooc
