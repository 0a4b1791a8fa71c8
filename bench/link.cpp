// Measures the rate of the link alone and the cost of page-locking.

#include "measure/link.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <array>

#include "bench.hpp"

namespace ooc::detail::bench {

nlohmann::ordered_json link(bool cuda, int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  device->bind_to_thread();
  double setup_seconds = 0;
  const std::size_t host_bytes = measure::link_host_bytes();
  {
    const Clock setup;
    const Buffer host(device->host_memory(), host_bytes);
    setup_seconds = setup.seconds();
  }
  measure::LinkSweep sweep(
      *device, std::array{256 * KiB, 1 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 64 * MiB}, 4 * GiB);
  for (int run = 0; run < runs; ++run) sweep.round();
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  for (const auto& row : sweep.rows()) {
    table.push_back({{"chunk_bytes", row.chunk_bytes},
                     {"bytes_per_second", spread(row.h2d)},
                     {"home_bytes_per_second", spread(row.d2h)},
                     {"both_at_once_bytes_per_second", spread(row.both)}});
  }
  return {{"device", device->name()},
          {"pinned_seconds_per_gib",
           setup_seconds * static_cast<double>(GiB) / static_cast<double>(host_bytes)},
          {"best_bytes_per_second", measure::spread_of(sweep.best_h2d().h2d).median},
          {"best_home_bytes_per_second", measure::spread_of(sweep.best_d2h().d2h).median},
          {"by_chunk", table}};
}

}  // namespace ooc::detail::bench
