// The disk's own rate: direct reads of one file through io_uring, as deep and as large as is best.
// The ceiling that a cold run is measured against; `fio` reads the same way (bench/README.md).

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/engine.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/file.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "bench.hpp"

namespace ooc::bench {

namespace {

/// Reads `bytes` from `begin` on, sequentially, keeping `depth` requests in flight, into `buffers`
/// blocks of memory in turn.
double seconds_to_read(const File& file, Device& device, Setting setting, std::uint64_t begin,
                       std::uint64_t bytes) {
  const std::size_t buffers = std::max(setting.buffers, setting.depth);
  const Buffer memory(device.host_memory(), setting.block_bytes * buffers);
  const auto engine = make_engine({.kind = EngineKind::uring,
                                   .depth = setting.depth,
                                   .storage = {memory.data(), memory.size()},
                                   .storage_piece = setting.block_bytes});
  std::vector<Request> requests(setting.depth);
  std::uint64_t next = begin;
  std::size_t turn = 0;
  // With more buffers than requests, the one whose turn it is was read into longest ago.
  const auto start = [&](Request& request, std::size_t buffer) {
    request = {.source = &file,
               .direct = true,
               .memory = memory.data() + buffer * setting.block_bytes,
               .offset = next,
               .bytes = setting.block_bytes,
               .needed = setting.block_bytes};
    engine->start(request);
    next += setting.block_bytes;
  };
  const Clock clock;
  for (std::size_t i = 0; i < setting.depth && next < begin + bytes; ++i) {
    start(requests[i], turn++);
  }
  while (engine->in_flight() > 0) {
    Request& done = engine->wait();
    const auto same = static_cast<std::size_t>(done.memory - memory.data()) / setting.block_bytes;
    if (next < begin + bytes) start(done, buffers > setting.depth ? turn++ % buffers : same);
  }
  return clock.seconds();
}

}  // namespace

nlohmann::ordered_json disk_sweep(const std::string& path, Setting only, int runs) {
  const File file = File::open(path);
  if (file.direct() < 0) throw Error(Cause::usage, path + ": " + file.why_not_direct());
  const auto device = make_device(DeviceKind::cpu);

  std::vector<Setting> settings;
  for (const std::size_t block : {256 * KiB, 512 * KiB, 1 * MiB, 2 * MiB, 4 * MiB}) {
    for (const std::size_t in_flight : {2 * MiB, 4 * MiB, 8 * MiB, 16 * MiB, 32 * MiB}) {
      if (in_flight >= block) settings.push_back({block, in_flight / block});
    }
  }
  if (only.block_bytes != 0 && only.depth != 0) settings = {only};
  // A round is one scan of the file, in which every setting reads a part of its own: as a cold run
  // does, it never comes back to what the disk, or the host of a virtual one, may have kept. Which
  // part is whose changes from round to round.
  const std::uint64_t part_bytes = round_down(file.size() / settings.size(), 4 * MiB);
  if (part_bytes == 0) throw Error(Cause::usage, path + ": smaller than 100 MiB");
  std::mt19937_64 random(std::random_device{}());
  std::vector<std::vector<double>> rates(settings.size());
  std::vector<std::size_t> order(settings.size());
  std::iota(order.begin(), order.end(), 0u);
  for (int run = 0; run < runs; ++run) {
    std::ranges::shuffle(order, random);
    for (std::size_t part = 0; part < order.size(); ++part) {
      const std::size_t i = order[part];
      const double seconds =
          seconds_to_read(file, *device, settings[i], part * part_bytes, part_bytes);
      rates[i].push_back(static_cast<double>(part_bytes) / seconds);
    }
  }

  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  double best = 0;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto rate = spread(rates[i]);
    best = std::max(best, rate["median"].get<double>());
    table.push_back({{"block_bytes", settings[i].block_bytes},
                     {"in_flight", settings[i].depth},
                     {"bytes_per_second", rate}});
  }
  return {{"bytes_per_part", part_bytes}, {"best_bytes_per_second", best}, {"sweep", table}};
}

}  // namespace ooc::bench
