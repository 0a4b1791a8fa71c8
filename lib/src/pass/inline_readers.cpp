#include "pass/inline_readers.hpp"

namespace ooc::detail {

InlineReaders::InlineReaders(const std::vector<const File*>& files, const SequentialPlan& plan,
                             ChunkPool& pool, const IoConfig& config, std::size_t lanes,
                             const PassOptions& wanted)
    : plan_(plan), pool_(pool), loaders_(lanes) {
  for (Loader& loader : loaders_) {
    loader.reader = std::make_unique<Reader>(
        files, plan, pool, make_engine({.kind = EngineKind::threads, .depth = 1, .threads = 0}),
        config.block_bytes, config.direct);
    loader.reporter =
        std::make_unique<TransferReporter>(TraceEvent::Kind::read, pool.size(), wanted.observe);
    loader.reader->set_observer(*loader.reporter);
    loader.chunk.segments.reserve(plan.max_extents());
  }
}

Chunk& InlineReaders::load(std::size_t lane, std::size_t step) {
  if (pool_.is_aborted()) throw Aborted{};
  Loader& loader = loaders_[lane];
  Chunk& chunk = loader.chunk;
  // If there are fewer steps than lanes, the pool has a slot for each step.
  const std::size_t slot = plan_.steps() < loaders_.size() ? step : lane;
  chunk.memory = pool_.memory().subspan(slot * pool_.slot_bytes(), pool_.slot_bytes());
  chunk.index = step;
  chunk.segments.clear();
  if (!plan_.is_resident(step)) loader.reader->read_chunk(chunk, slot);
  return chunk;
}

std::uint64_t InlineReaders::bytes_done() const noexcept {
  std::uint64_t bytes = 0;
  for (const Loader& loader : loaders_) bytes += loader.reader->bytes_done();
  return bytes;
}

std::size_t InlineReaders::in_flight() const noexcept {
  std::size_t requests = 0;
  for (const Loader& loader : loaders_) requests += loader.reader->in_flight();
  return requests;
}

double InlineReaders::seconds_busy() const noexcept {
  double seconds = 0;
  for (const Loader& loader : loaders_) seconds += loader.reader->seconds_busy();
  return seconds;
}

}  // namespace ooc::detail
