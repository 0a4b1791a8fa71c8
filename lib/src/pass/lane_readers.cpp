#include "pass/lane_readers.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace ooc {

namespace {

constexpr int end_bits = 44;  // more chunks than a file system has bytes for
constexpr std::uint64_t one_stopped = std::uint64_t{1} << end_bits;

std::size_t end_of(std::uint64_t begun) {
  return begun & (one_stopped - 1);
}
std::size_t stopped_of(std::uint64_t begun) {
  return begun >> end_bits;
}

}  // namespace

LaneReaders::LaneReaders(const Source& source, const SequentialPlan& plan, ChunkPool& pool,
                         const IoConfig& config, std::size_t lanes, LaneTakes takes,
                         const PassOptions& wanted)
    : plan_(plan), pool_(pool), takes_(takes), stop_(wanted.stop), loaders_(lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    Loader& loader = loaders_[lane];
    loader.reader = std::make_unique<Reader>(
        source.files(), plan, pool,
        make_engine({.kind = EngineKind::threads, .depth = 1, .threads = 0}), config.block_bytes,
        config.direct);
    loader.reporter =
        std::make_unique<TransferReporter>(TraceEvent::Kind::read, pool.size(), wanted.observe);
    loader.reader->set_observer(*loader.reporter);
    loader.chunk.segments.reserve(plan.max_extents());
    loader.next = lane;
  }
}

Chunk* LaneReaders::load_next(std::size_t lane) {
  if (pool_.is_aborted()) throw Aborted{};
  Loader& loader = loaders_[lane];
  const auto index = takes_ == LaneTakes::any ? take_any() : take_of_share(loader);
  if (!index) return nullptr;
  Chunk& chunk = loader.chunk;
  // Where there are fewer chunks than lanes, there is a slot for each of these.
  const std::size_t slot = plan_.size() < loaders_.size() ? *index : lane;
  chunk.memory = pool_.memory().subspan(slot * pool_.slot_bytes(), pool_.slot_bytes());
  chunk.index = *index;
  loader.reader->read_chunk(chunk, slot);
  return &chunk;
}

/// In order, and all that are taken are computed: nothing has to be agreed on.
std::optional<std::size_t> LaneReaders::take_any() {
  if (stop_.stop_requested()) return std::nullopt;
  const std::size_t chunk = end_of(begun_++);
  return chunk < plan_.size() ? std::optional(chunk) : std::nullopt;
}

std::optional<std::size_t> LaneReaders::take_of_share(Loader& loader) {
  const std::size_t chunk = loader.next;
  if (stop_.stop_requested() || chunk >= plan_.size()) {
    stop(loader);
    if (chunk >= plan_.size() || !is_before_the_end(chunk)) return std::nullopt;
  }
  std::uint64_t begun = begun_;
  while (end_of(begun) <= chunk &&
         !begun_.compare_exchange_weak(begun, begun - end_of(begun) + chunk + 1)) {
  }
  loader.next += loaders_.size();
  return chunk;
}

void LaneReaders::stop(Loader& loader) {
  if (!std::exchange(loader.has_stopped, true)) begun_ += one_stopped;
}

/// The end only grows, until each lane has stopped. Who has a chunk before it goes on at once:
/// others may wait for its turn at the checksum.
bool LaneReaders::is_before_the_end(std::size_t chunk) {
  for (;;) {
    const std::uint64_t begun = begun_;
    if (chunk < end_of(begun)) return true;
    if (stopped_of(begun) == loaders_.size()) return false;
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
