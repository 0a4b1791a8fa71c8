// The link's own rate: copies out of page-locked memory and back, chunk by chunk, with nothing else
// going on, and in both directions at once.

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "bench.hpp"

namespace ooc::bench {

namespace {

constexpr std::size_t host_bytes = 256 * MiB;
constexpr std::size_t bytes_per_run = 4 * GiB;

/// One stream that copies in one direction.
class OneWay {
 public:
  OneWay(Device& device, std::size_t chunk, bool home)
      : host_(device.host_memory(), host_bytes),
        there_(device.device_memory(), 2 * chunk),
        stream_(device.make_stream()),
        chunk_(chunk),
        home_(home) {
    std::memset(host_.data(), 1, host_bytes);
  }

  void copy() {
    for (std::size_t done = 0; done < bytes_per_run; done += chunk_) {
      std::byte* const host = host_.data() + done % host_bytes;
      std::byte* const there = there_.data() + done % (2 * chunk_);
      stream_->copy(home_ ? host : there, home_ ? there : host, chunk_);
    }
  }
  void synchronize() { stream_->synchronize(); }

 private:
  Buffer host_, there_;
  std::unique_ptr<Stream> stream_;
  std::size_t chunk_;
  bool home_;
};

/// The rate of each of some ways that are used at once.
nlohmann::ordered_json rate_of(std::vector<OneWay*> ways, int runs) {
  std::vector<double> rates;
  for (int run = 0; run <= runs; ++run) {  // the first is a warm-up
    const Clock clock;
    for (OneWay* way : ways) way->copy();
    for (OneWay* way : ways) way->synchronize();
    if (run > 0) rates.push_back(static_cast<double>(bytes_per_run) / clock.seconds());
  }
  return spread(rates);
}

}  // namespace

nlohmann::ordered_json link(bool cuda, int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  device->bind_to_thread();
  double setup_seconds = 0;
  {
    const Clock setup;
    const Buffer host(device->host_memory(), host_bytes);
    setup_seconds = setup.seconds();
  }
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  double best = 0, best_home = 0;
  for (const std::size_t chunk : {256 * KiB, 1 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 64 * MiB}) {
    OneWay there(*device, chunk, false), home(*device, chunk, true);
    const auto rate = rate_of({&there}, runs), rate_home = rate_of({&home}, runs);
    best = std::max(best, rate["median"].get<double>());
    best_home = std::max(best_home, rate_home["median"].get<double>());
    table.push_back({{"chunk_bytes", chunk},
                     {"bytes_per_second", rate},
                     {"home_bytes_per_second", rate_home},
                     {"both_at_once_bytes_per_second", rate_of({&there, &home}, runs)}});
  }
  return {{"device", device->name()},
          {"pinned_seconds_per_gib", setup_seconds * GiB / host_bytes},
          {"best_bytes_per_second", best},
          {"best_home_bytes_per_second", best_home},
          {"by_chunk", table}};
}

}  // namespace ooc::bench
