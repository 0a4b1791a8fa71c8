#include <ooc/io/chunk_pool.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

namespace ooc {
namespace {

// A turn is a chunk's index and, in the lowest two bits, its stage. The two highest values are no
// turns but ends: nothing follows them until restart().
constexpr unsigned stage_bits = 2;
constexpr std::uint64_t stage_mask = (1u << stage_bits) - 1;
constexpr std::uint64_t aborted = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t closed = aborted - 1;  // the source ended before this slot's next chunk
constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();

constexpr std::uint64_t turn_of(std::size_t index, Stage stage) {
  return std::uint64_t{index} << stage_bits | static_cast<std::uint64_t>(stage);
}

constexpr bool is_empty_from(std::uint64_t turn, std::size_t index) {
  return turn < closed && (turn & stage_mask) == static_cast<std::uint64_t>(Stage::empty) &&
         turn >> stage_bits >= index;
}

/// Goes from one turn to the next, unless abort() came first: that stays.
bool advance(std::atomic<std::uint64_t>& turn, std::uint64_t from, std::uint64_t to) {
  const bool advanced = turn.compare_exchange_strong(from, to);
  assert(advanced || from == aborted || from == closed);
  if (advanced) turn.notify_all();
  return advanced;
}

}  // namespace

ChunkPool::ChunkPool(std::pmr::memory_resource& memory, std::size_t slots, std::size_t slot_bytes,
                     std::size_t max_segments)
    : resource_(memory),
      slot_bytes_(round_up(std::max<std::size_t>(slot_bytes, 1), page_bytes)),
      slots_(slots),
      end_(no_end) {
  if (slots == 0) throw Error(Cause::usage, "a chunk pool has at least one slot");
  for (Slot& slot : slots_) slot.chunk.segments.reserve(max_segments);
  const std::size_t bytes = slots * slot_bytes_;
  memory_ = {static_cast<std::byte*>(resource_.allocate(bytes, page_bytes)), bytes};
  for (std::size_t i = 0; i < slots; ++i) {
    slots_[i].chunk.memory = memory_.subspan(i * slot_bytes_, slot_bytes_);
  }
  restart();
}

ChunkPool::~ChunkPool() {
  resource_.deallocate(memory_.data(), memory_.size(), page_bytes);
}

void ChunkPool::restart() {
  end_ = no_end;
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].turn = turn_of(i, Stage::empty);
}

Chunk* ChunkPool::wait(std::size_t index, Stage stage) {
  Slot& slot = this->slot(index);
  const std::uint64_t wanted = turn_of(index, stage);
  std::uint64_t turn = slot.turn.load();
  while (turn != wanted) {
    if (turn == aborted) throw Aborted{};
    if (turn == closed || index >= end_.load()) return nullptr;
    slot.turn.wait(turn);
    turn = slot.turn.load();
  }
  if (stage == Stage::empty) {
    slot.chunk.index = index;
    slot.chunk.segments.clear();
  }
  return &slot.chunk;
}

bool ChunkPool::ready(std::size_t index, Stage stage) const noexcept {
  return slots_[index % slots_.size()].turn.load() == turn_of(index, stage);
}

/// Ends the caller's turn at a chunk. False if the pass was aborted.
bool ChunkPool::leave(const Chunk& chunk, std::uint64_t next) {
  std::atomic<std::uint64_t>& turn = slot(chunk.index).turn;
  const std::uint64_t ours = turn.load();
  assert(ours >= closed || (ours >> stage_bits == chunk.index && ours < next));
  return ours < closed && advance(turn, ours, next);
}

void ChunkPool::publish(const Chunk& chunk, Stage reached) {
  leave(chunk, turn_of(chunk.index, reached));
}

void ChunkPool::recycle(const Chunk& chunk) {
  Slot& slot = this->slot(chunk.index);
  const std::size_t next = chunk.index + slots_.size();
  const std::uint64_t empty = turn_of(next, Stage::empty);
  if (!leave(chunk, empty)) return;
  // We have written the turn and now read the end; end_at() writes the end and then reads the
  // turns. All four are sequentially consistent, so at least one of us sees what the other wrote
  // and closes the slot: nobody waits for a chunk that never comes.
  if (next >= end_.load()) advance(slot.turn, empty, closed);
}

void ChunkPool::end_at(std::size_t index) {
  end_ = index;
  for (Slot& slot : slots_) {
    const std::uint64_t turn = slot.turn.load();
    if (is_empty_from(turn, index)) advance(slot.turn, turn, closed);
  }
}

void ChunkPool::abort() noexcept {
  for (Slot& slot : slots_) {
    slot.turn = aborted;
    slot.turn.notify_all();
  }
}

bool ChunkPool::is_aborted() const noexcept {
  return slots_.front().turn.load() == aborted;
}

}  // namespace ooc
