#include "base/dry_run_passes.hpp"

#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/device/resident_room.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ooc::detail {

namespace {

/// Returns the bytes of the inputs that a GPU without other users keeps for the next passes.
std::uint64_t resident_bytes_expected(const Options& machine, std::uint64_t all,
                                      const Stats& pass) {
  const std::vector<GpuFacts> gpus = cuda_facts().gpus;
  std::uint64_t free = gpus.empty() ? 0 : gpus.front().memory_bytes;
  if (machine.device_bytes != 0) free = std::min<std::uint64_t>(free, machine.device_bytes);
  return std::min(all, room_for_resident(free, pass.layout.device_bytes));
}

}  // namespace

Stats dry_run_passes(const Options& machine, DeviceKind device, std::span<const PassInput> inputs,
                     const PassOptions& wanted, std::size_t passes, HostBytes memory) {
  Stats stats = dry_run_pass(machine, device, inputs, {}, wanted, memory);
  stats.outcome.passes = passes;
  const bool keeps = !wanted.checksum && !wanted.checkpoint;
  if (passes == 1 || !keeps || device != DeviceKind::cuda) return stats;
  std::uint64_t all = 0;
  for (const PassInput& input : inputs) all += input.source.bytes();
  stats.outcome.resident_bytes = resident_bytes_expected(machine, all, stats);
  if (stats.outcome.resident_bytes != 0) {
    stats.layout.reasons.push_back(
        {ReasonKind::resident_input, {}, {stats.outcome.resident_bytes, all}});
  }
  return stats;
}

Stats dry_run_passes(const Options& machine, DeviceKind device, const Source& source,
                     const PassOptions& wanted, std::size_t passes, HostBytes memory) {
  const PassInput input = stored_input(source, size_of(source.element()));
  return dry_run_passes(machine, device, {&input, 1}, wanted, passes, memory);
}

}  // namespace ooc::detail
