// The link's own rate: copies out of page-locked memory, chunk by chunk, with nothing else going
// on.

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cstring>

#include "bench.hpp"

namespace ooc::bench {

nlohmann::ordered_json link(bool cuda, int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  device->bind_to_thread();
  constexpr std::size_t host_bytes = 256 * MiB;
  constexpr std::size_t bytes_per_run = 4 * GiB;
  const Clock setup;
  const Buffer host(device->host_memory(), host_bytes);
  const double setup_seconds = setup.seconds();
  std::memset(host.data(), 1, host_bytes);
  const auto stream = device->make_stream();

  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  double best = 0;
  for (const std::size_t chunk : {256 * KiB, 1 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 64 * MiB}) {
    const Buffer there(device->device_memory(), 2 * chunk);
    std::vector<double> rates;
    for (int run = 0; run <= runs; ++run) {  // the first is a warm-up
      const Clock clock;
      for (std::size_t done = 0; done < bytes_per_run; done += chunk) {
        stream->copy(there.data() + done % (2 * chunk), host.data() + done % host_bytes, chunk);
      }
      stream->synchronize();
      if (run > 0) rates.push_back(static_cast<double>(bytes_per_run) / clock.seconds());
    }
    const auto rate = spread(rates);
    best = std::max(best, rate["median"].get<double>());
    table.push_back({{"chunk_bytes", chunk}, {"bytes_per_second", rate}});
  }
  return {{"device", device->name()},
          {"pinned_seconds_per_gib", setup_seconds * GiB / host_bytes},
          {"best_bytes_per_second", best},
          {"by_chunk", table}};
}

}  // namespace ooc::bench
