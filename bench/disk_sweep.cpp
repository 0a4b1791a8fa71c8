// Measures the ceiling of a cold run. `fio` reads in the same way (bench/README.md).

#include "measure/disk.hpp"

#include <ooc/detail/base/units.hpp>

#include <array>

#include "bench.hpp"

namespace ooc::detail::bench {

nlohmann::ordered_json disk_sweep(const std::string& path, measure::DiskSetting only, int runs) {
  const File file = File::open(path);
  const auto device = make_device(DeviceKind::cpu);
  std::vector<measure::DiskSetting> settings{only};
  if (only.block_bytes == 0 || only.depth == 0) {
    settings = measure::disk_settings(std::array{256 * KiB, 512 * KiB, 1 * MiB, 2 * MiB, 4 * MiB},
                                      std::array{2 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 32 * MiB});
  }
  measure::DiskSweep sweep(file, *device, settings);
  for (int run = 0; run < runs; ++run) sweep.round();

  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  for (const auto& row : sweep.rows()) {
    table.push_back({{"block_bytes", row.setting.block_bytes},
                     {"in_flight", row.setting.depth},
                     {"bytes_per_second", spread(row.bytes_per_second)}});
  }
  const double best = measure::spread_of(sweep.best().bytes_per_second).median;
  return {
      {"bytes_per_part", sweep.part_bytes()}, {"best_bytes_per_second", best}, {"sweep", table}};
}

}  // namespace ooc::detail::bench
