#include "measure/disk.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <algorithm>
#include <numeric>

#include "measure/figures.hpp"

namespace ooc::detail::measure {

namespace {

constexpr std::size_t part_multiple = 4 * MiB;  // a multiple of all block sizes

/// Reads `bytes` sequentially from `begin` on, with `depth` requests in flight, into `buffers`
/// blocks of memory in turn. Returns the elapsed seconds.
double seconds_to_read(const File& file, Device& device, DiskSetting setting, std::uint64_t begin,
                       std::uint64_t bytes) {
  const std::size_t buffers = std::max(setting.buffers, setting.depth);
  const Buffer memory(device.host_memory(), setting.block_bytes * buffers);
  const auto engine = make_engine({.depth = setting.depth,
                                   .threads = setting.depth,
                                   .storage = {memory.data(), memory.size()},
                                   .storage_piece = setting.block_bytes});
  std::vector<Request> requests(setting.depth);
  std::uint64_t next = begin;
  std::size_t turn = 0;
  // With more buffers than requests, the next buffer is the one least recently read into.
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

std::vector<DiskSetting> disk_settings(std::span<const std::size_t> block_bytes,
                                       std::span<const std::size_t> in_flight_bytes) {
  std::vector<DiskSetting> settings;
  for (const std::size_t block : block_bytes) {
    for (const std::size_t in_flight : in_flight_bytes) {
      if (in_flight >= block) settings.push_back({block, in_flight / block});
    }
  }
  return settings;
}

std::uint64_t DiskSweep::part_bytes(const File& file, std::size_t settings) {
  return round_down(file.size() / std::max<std::size_t>(settings, 1), part_multiple);
}

std::string DiskSweep::why_not(const File& file, std::size_t settings) {
  if (file.direct() < 0) return file.why_not_direct();
  if (part_bytes(file, settings) != 0) return {};
  return "smaller than " + std::to_string(settings * part_multiple / MiB) + " MiB";
}

DiskSweep::DiskSweep(const File& file, Device& device, std::vector<DiskSetting> settings)
    : file_(file), device_(device), part_bytes_(part_bytes(file, settings.size())) {
  const std::string why = why_not(file, settings.size());
  if (!why.empty()) throw Error(ErrorKind::usage, file.path().string() + ": " + why);
  for (const DiskSetting& setting : settings) rows_.push_back({setting});
}

void DiskSweep::round() {
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::shuffle(order, random_);
  for (std::size_t part = 0; part < order.size(); ++part) {
    Row& row = rows_[order[part]];
    const double seconds =
        seconds_to_read(file_, device_, row.setting, part * part_bytes_, part_bytes_);
    row.bytes_per_second.push_back(static_cast<double>(part_bytes_) / seconds);
  }
}

const DiskSweep::Row& DiskSweep::best() const {
  return *std::ranges::max_element(
      rows_, {}, [](const Row& row) { return spread_of(row.bytes_per_second).median; });
}

}  // namespace ooc::detail::measure
