#include "lane_readers.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ooc {

LaneReaders::LaneReaders(const Source& source, const SequentialPlan& plan, ChunkPool& pool,
                         const IoWay& way, std::size_t lanes, const Options& options)
    : pool_(pool), stop_(options.stop), loaders_(lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    Loader& loader = loaders_[lane];
    loader.reader = std::make_unique<Reader>(
        source.files(), plan, pool,
        make_engine({.kind = EngineKind::threads, .depth = 1, .threads = 0}), way.block_bytes,
        way.direct);
    loader.reader->take_every(lanes, lane);
    loader.reporter =
        std::make_unique<TransferReporter>(Activity::Kind::read, pool.size(), options.observe);
    loader.reader->set_observer(*loader.reporter);
  }
}

bool LaneReaders::load(std::size_t lane, std::size_t chunk) {
  if (stop_.stop_requested() && !is_before_the_end(lane, chunk)) return false;
  std::size_t end = end_;
  while (end <= chunk && !end_.compare_exchange_weak(end, chunk + 1)) {
  }
  return loaders_[lane].reader->read_chunk();
}

void LaneReaders::leave(std::size_t lane) {
  if (!std::exchange(loaders_[lane].has_stopped, true)) ++stopped_;
}

/// The end only grows, until each lane has come here, at its next chunk, or has left. Who has a
/// chunk before it goes on at once: others may wait for the chunk's slot.
bool LaneReaders::is_before_the_end(std::size_t lane, std::size_t chunk) {
  leave(lane);
  for (;;) {
    const bool is_final = stopped_ == loaders_.size();
    if (chunk < end_) return true;
    if (is_final) return false;
    if (pool_.is_aborted()) throw Aborted{};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::uint64_t LaneReaders::bytes_done() const noexcept {
  std::uint64_t bytes = 0;
  for (const Loader& loader : loaders_) bytes += loader.reader->bytes_done();
  return bytes;
}

std::size_t LaneReaders::in_flight() const noexcept {
  std::size_t requests = 0;
  for (const Loader& loader : loaders_) requests += loader.reader->in_flight();
  return requests;
}

double LaneReaders::seconds_busy() const noexcept {
  double seconds = 0;
  for (const Loader& loader : loaders_) seconds += loader.reader->seconds_busy();
  return seconds;
}

}  // namespace ooc
