#include "matmul/memory.hpp"

#include "base/least_limit.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <string>

namespace ooc::detail::product {

namespace {

// Fractions of the free memory that are used unless the user has set limits. The rest is left to
// other programs and, on a GPU, to the allocations of libraries.
constexpr double device_share = 0.9;
constexpr double host_share = 0.5;
constexpr std::uint64_t most_pool_share = 4;  // pools take at most a quarter of the host memory

/// Chooses slots for the chunks in flight and for those that the device copies, within the limit.
/// Throws Error(memory) if even the smallest pools exceed it.
Pools choose_pools(const IoConfig& reads, std::uint64_t host_bytes) {
  constexpr std::size_t copying = 4;
  const std::uint64_t most = host_bytes / most_pool_share;
  Pools pools;
  pools.slot_bytes = round_up(reads.chunk_bytes, page_bytes) + 2 * page_bytes;
  const std::size_t in_flight = divide_up(reads.queue_depth * reads.block_bytes, reads.chunk_bytes);
  pools.in_slots = in_flight + copying;
  pools.out_slots = in_flight + copying;
  if (pools.bytes() <= most) return pools;
  const std::uint64_t slots = pools.in_slots + pools.out_slots;
  pools.slot_bytes =
      std::max<std::size_t>(round_down(most / slots, page_bytes), RegionPlan::least_slot_bytes());
  if (pools.bytes() <= most) return pools;
  const std::size_t fewer = most / pools.slot_bytes / 2;
  pools.in_slots = pools.out_slots = std::max<std::size_t>(fewer, 2);
  if (pools.bytes() <= host_bytes) return pools;
  throw Error(ErrorKind::memory,
              "the pools alone need " + std::to_string(pools.bytes()) + " bytes, the limit is " +
                  std::to_string(host_bytes),
              {.remedies = {{RemedyAction::raise, "Options::memory_bytes"}}});
}

/// Returns the size of the device memory for elements before their conversion: a small fraction of
/// the device memory, but enough for one element.
std::size_t staging_for(const Pools& pools, std::uint64_t device_bytes) {
  constexpr std::uint64_t alignment = 256;
  constexpr std::uint64_t small_share = 32;
  const std::uint64_t share = round_down(device_bytes / small_share, alignment);
  return std::clamp<std::uint64_t>(share, alignment, round_down(pools.slot_bytes, alignment));
}

/// Like MemoryDivision::divide(), but its errors do not name a sufficient limit.
Memory divide_memory(const Workplace& place, std::uint64_t output_bytes, ProductJob& job) {
  Device& device = place.device;
  const Options& limits = place.options;
  const auto share = [](double part, std::uint64_t bytes) {
    return static_cast<std::uint64_t>(part * static_cast<double>(bytes));
  };
  const std::uint64_t free_bytes = available_host_bytes();
  const std::uint64_t host_bytes =
      limits.memory_bytes != 0
          ? limits.memory_bytes
          : share(host_share, free_bytes - std::min(free_bytes, output_bytes)) / place.devices;
  job.pools = choose_pools(job.reads, host_bytes);

  Memory memory;
  memory.host_left = host_bytes - job.pools.bytes();
  memory.device_bytes = limits.device_bytes != 0 ? limits.device_bytes
                                                 : share(device_share, device.available_bytes());
  if (device.reads_host_memory()) {
    const bool limited = limits.device_bytes != 0 && limits.device_bytes < memory.host_left;
    memory.device_bytes = limited ? limits.device_bytes : memory.host_left;
    memory.is_host_memory = !limited;
  }
  memory.workspace = gemm::workspace_bytes(device.kind(), memory.device_bytes);
  if (job.types.converts()) {
    job.pools.staging_bytes = staging_for(job.pools, memory.device_bytes);
  }
  const std::uint64_t others = memory.workspace + job.pools.staging_bytes;
  memory.for_panels = memory.device_bytes - std::min(memory.device_bytes, others);
  return memory;
}

}  // namespace

Schedule MemoryDivision::schedule_within(const Memory& memory, const Problem& problem,
                                         const Rates& rates) const {
  const Limits limits{.device_bytes = memory.for_panels,
                      .cache_bytes = keeps_ ? memory.host_left : 0,
                      .given_bytes = memory.device_bytes,
                      .is_host_memory = memory.is_host_memory};
  return begun_ ? rest_of_schedule(problem, limits, rates, begun_->tiling, begun_->tiles)
                : make_schedule(problem, limits, rates);
}

Error MemoryDivision::with_least(const Error& error, const ProductJob& job,
                                 const Rates& rates) const {
  return with_least_limit(error, place_.options, [&, trial = job](const Options& limits) mutable {
    try {
      const Memory memory =
          divide_memory({place_.device, limits, place_.devices}, output_bytes_, trial);
      schedule_within(memory, trial.problem, rates);
      return true;
    } catch (const Error&) {
      return false;
    }
  });
}

Memory MemoryDivision::divide(ProductJob& job, const Rates& rates) const {
  try {
    return divide_memory(place_, output_bytes_, job);
  } catch (const Error& error) {
    throw with_least(error, job, rates);
  }
}

Schedule MemoryDivision::schedule(const ProductJob& job, const Memory& memory,
                                  const Rates& rates) const {
  try {
    return schedule_within(memory, job.problem, rates);
  } catch (const Error& error) {
    throw with_least(error, job, rates);
  }
}

}  // namespace ooc::detail::product
