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
    loader.engine = make_engine({.kind = EngineKind::threads, .depth = 1, .threads = 0});
    loader.reader = std::make_unique<Reader>(source.files(), plan, pool, *loader.engine,
                                             way.block_bytes, way.direct);
    loader.reader->take_every(lanes, lane);
    loader.reporter =
        std::make_unique<TransferReporter>(Activity::Kind::read, pool.size(), options.observe);
    loader.reader->set_observer(*loader.reporter);
  }
}

bool LaneReaders::load(std::size_t lane, std::size_t chunk) {
  Loader& loader = loaders_[lane];
  if (stop_.stop_requested()) {
    leave(lane);
    wait_until_all_have_stopped(chunk);
    if (chunk >= end_) return false;
  }
  std::size_t end = end_;
  while (end <= chunk && !end_.compare_exchange_weak(end, chunk + 1)) {
  }
  return loader.reader->read_chunk();
}

void LaneReaders::leave(std::size_t lane) {
  if (!std::exchange(loaders_[lane].has_stopped, true)) ++stopped_;
}

/// Each lane comes here at its next chunk, or leaves.
void LaneReaders::wait_until_all_have_stopped(std::size_t chunk) {
  while (stopped_ < loaders_.size()) {
    pool_.wait(chunk, Stage::empty);  // throws if the pass has failed
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::uint64_t LaneReaders::bytes_done() const noexcept {
  std::uint64_t bytes = 0;
  for (const Loader& loader : loaders_) bytes += loader.reader->bytes_done();
  return bytes;
}

double LaneReaders::seconds_busy() const noexcept {
  double seconds = 0;
  for (const Loader& loader : loaders_) seconds += loader.reader->seconds_busy();
  return seconds;
}

}  // namespace ooc
