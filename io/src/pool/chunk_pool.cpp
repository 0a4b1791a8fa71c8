#include <ooc/detail/pool/chunk_pool.hpp>

#include <bit>

namespace ooc::detail {

namespace {

/// Returns how many chunks the newest one may be ahead of the oldest one that is not finished. It
/// is more than the number of slots, so that a thread that is late with one chunk does not keep the
/// others from the next ones.
std::size_t window_for(std::size_t slots) {
  constexpr std::size_t times = 4;
  return std::bit_ceil(times * slots);
}

}  // namespace

ChunkPool::ChunkPool(MemoryResource& memory, std::size_t slots, std::size_t slot_bytes,
                     std::size_t max_segments)
    : slots_(memory, slots, slot_bytes),
      turns_(window_for(slots)),
      chunks_(slots),
      slot_of_(turns_.window()) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    chunks_[slot].memory = slots_.memory(slot);
    chunks_[slot].segments.reserve(max_segments);
  }
}

void ChunkPool::restart(std::size_t limit) noexcept {
  slots_.restart(limit);
  turns_.restart();
}

Chunk* ChunkPool::begin(std::size_t index) {
  for (;;) {
    const std::uint32_t seen = slots_.changes();
    if (turns_.is_aborted()) throw Aborted{};
    if (index >= turns_.end()) return nullptr;
    if (Chunk* const chunk = try_begin(index)) return chunk;
    slots_.wait(seen);
  }
}

Chunk* ChunkPool::try_begin(std::size_t index) {
  if (turns_.is_aborted() || index >= turns_.end()) return nullptr;
  if (!turns_.is_at(index, ChunkState::empty)) return nullptr;
  const auto slot = slots_.try_acquire();
  if (!slot) return nullptr;
  slot_of_[index % slot_of_.size()] = *slot;
  Chunk& chunk = chunks_[*slot];
  chunk.index = index;
  chunk.segments.clear();
  chunk.has_turn = true;
  return &chunk;
}

Chunk* ChunkPool::wait(std::size_t index, ChunkState state) {
  if (!turns_.wait(index, state)) return nullptr;
  return &chunks_[slot_of_[index % slot_of_.size()]];
}

void ChunkPool::end_turn(Chunk& chunk) noexcept {
  chunk.has_turn = false;
  turns_.finish(chunk.index);
  slots_.wake();
}

void ChunkPool::recycle(const Chunk& chunk) noexcept {
  const std::size_t slot = slot_of(chunk);
  if (chunk.has_turn) turns_.finish(chunk.index);
  slots_.release(slot);
}

void ChunkPool::end_at(std::size_t index) noexcept {
  turns_.end_at(index);
  slots_.wake();
}

void ChunkPool::abort() noexcept {
  turns_.abort();
  slots_.wake();
}

}  // namespace ooc::detail
