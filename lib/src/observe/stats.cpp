#include <ooc/stats.hpp>

#include <algorithm>

namespace ooc {

namespace {

/// Adds times, each multiplied by a number of threads relative to its own.
void add(StageTimes& total, const StageTimes& times, double scale, double scale_next) {
  total.busy = total.busy * scale + times.busy * scale_next;
  total.waits_in = total.waits_in * scale + times.waits_in * scale_next;
  total.waits_out = total.waits_out * scale + times.waits_out * scale_next;
}

/// Appends the items that are not there yet.
template <typename T>
void add(std::vector<T>& items, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  }
}

/// Adds what a device did in the next pass.
void add(std::vector<DeviceShare>& devices, const DeviceShare& next) {
  const auto same = std::ranges::find(devices, next.device, &DeviceShare::device);
  if (same == devices.end()) return devices.push_back(next);
  same->streams = std::max(same->streams, next.streams);
  same->bytes += next.bytes;
  same->busy_seconds += next.busy_seconds;
  same->start_seconds += next.start_seconds;
  same->idle_seconds += next.idle_seconds;
}

/// Adds what a rank did in the next pass.
void add(std::vector<RankShare>& ranks, const RankShare& next) {
  const auto same = std::ranges::find(ranks, next.rank, &RankShare::rank);
  if (same == ranks.end()) return ranks.push_back(next);
  if (same->device.empty()) same->device = next.device;  // there was nothing for it before
  same->bytes += next.bytes;
  same->bytes_written += next.bytes_written;
  same->busy_seconds += next.busy_seconds;
  same->wait_seconds += next.wait_seconds;
  same->start_seconds += next.start_seconds;
  same->idle_seconds += next.idle_seconds;
}

}  // namespace

Stats& Stats::operator+=(const Stats& next) {
  // A pass that found some of its input on the device has not read all of it in its usual way.
  const bool has_read_all = next.outcome.resident_bytes == 0;
  // Scale times as if both passes had as many streams as the one whose layout is kept.
  const double more = static_cast<double>(std::max<std::size_t>(next.layout.streams, 1)) /
                      static_cast<double>(std::max<std::size_t>(layout.streams, 1));
  const double scale = has_read_all ? more : 1, scale_next = has_read_all ? 1 : 1 / more;
  add(timing.disk, next.timing.disk, 1, 1);
  add(timing.decode, next.timing.decode, 1, 1);
  add(timing.h2d, next.timing.h2d, scale, scale_next);
  add(timing.kernel, next.timing.kernel, scale, scale_next);
  add(timing.d2h, next.timing.d2h, scale, scale_next);
  add(timing.write, next.timing.write, 1, 1);
  timing.seconds += next.timing.seconds;
  timing.startup_seconds += next.timing.startup_seconds;
  timing.device_seconds += next.timing.device_seconds;
  timing.checksum_seconds += next.timing.checksum_seconds;
  timing.commit_seconds += next.timing.commit_seconds;
  timing.checkpoint_seconds += next.timing.checkpoint_seconds;

  const LayoutStats first = layout;
  if (has_read_all) layout = next.layout;
  if (next.outcome.partial) layout.in_order = next.layout.in_order;
  layout.reads_inline &= first.reads_inline;
  layout.read_ahead_bytes = std::max(first.read_ahead_bytes, next.layout.read_ahead_bytes);
  layout.pool_bytes = std::max(first.pool_bytes, next.layout.pool_bytes);
  layout.device_bytes = std::max(first.device_bytes, next.layout.device_bytes);
  layout.page_cache_fraction = first.page_cache_fraction;
  layout.reasons = first.reasons;
  add(layout.reasons, next.layout.reasons);

  outcome.records = next.outcome.records;
  outcome.bytes = next.outcome.bytes;
  outcome.stored_bytes += next.outcome.stored_bytes;
  outcome.resident_bytes += next.outcome.resident_bytes;
  outcome.resumed_bytes += next.outcome.resumed_bytes;
  outcome.checkpoints += next.outcome.checkpoints;
  outcome.retries += next.outcome.retries;
  outcome.bytes_written += next.outcome.bytes_written;
  outcome.partial = next.outcome.partial;
  outcome.passes += next.outcome.passes;
  outcome.checksum = next.outcome.checksum;
  add(outcome.remarks, next.outcome.remarks);
  for (const DeviceShare& share : next.devices) add(devices, share);
  for (const RankShare& share : next.ranks) add(ranks, share);
  return *this;
}

Stats& Stats::add_beside(const Stats& other) {
  layout.device += " + " + other.layout.device;
  layout.reads_inline &= other.layout.reads_inline;
  layout.streams += other.layout.streams;
  layout.threads += other.layout.threads;
  layout.slots += other.layout.slots;
  layout.queue_depth += other.layout.queue_depth;
  layout.pool_bytes += other.layout.pool_bytes;
  layout.device_bytes += other.layout.device_bytes;
  add(layout.reasons, other.layout.reasons);
  timing.startup_seconds = std::min(timing.startup_seconds, other.timing.startup_seconds);
  timing.device_seconds = std::max(timing.device_seconds, other.timing.device_seconds);
  timing.disk += other.timing.disk;
  // Each device sees what all of them decode.
  timing.decode.busy = std::max(timing.decode.busy, other.timing.decode.busy);
  outcome.stored_bytes = std::max(outcome.stored_bytes, other.outcome.stored_bytes);
  timing.h2d += other.timing.h2d;
  timing.kernel += other.timing.kernel;
  timing.d2h += other.timing.d2h;
  timing.write += other.timing.write;
  outcome.records += other.outcome.records;
  outcome.bytes += other.outcome.bytes;
  outcome.bytes_written += other.outcome.bytes_written;
  outcome.retries += other.outcome.retries;
  add(outcome.remarks, other.outcome.remarks);
  return *this;
}

}  // namespace ooc
