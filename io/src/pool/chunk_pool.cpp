#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <algorithm>
#include <cassert>
#include <limits>

namespace ooc {
namespace {

// A turn is a chunk's index and, in the lowest two bits, its stage. The three highest values are no
// turns. Two are ends: nothing follows them until restart().
constexpr unsigned stage_bits = 2;
constexpr std::uint64_t stage_mask = (1u << stage_bits) - 1;
constexpr std::uint64_t aborted = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t closed = aborted - 1;  // the source ended before this slot's next chunk
constexpr std::uint64_t unused = closed - 1;   // by the ring
constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();

constexpr std::uint64_t turn_of(std::size_t index, SlotState stage) {
  return std::uint64_t{index} << stage_bits | static_cast<std::uint64_t>(stage);
}

constexpr bool is_empty_from(std::uint64_t turn, std::size_t index) {
  return turn < unused && (turn & stage_mask) == static_cast<std::uint64_t>(SlotState::empty) &&
         turn >> stage_bits >= index;
}

}  // namespace

ChunkPool::ChunkPool(std::pmr::memory_resource& memory, std::size_t slots, std::size_t slot_bytes,
                     std::size_t max_segments, std::size_t reach)
    : resource_(memory),
      slot_bytes_(round_up(std::max<std::size_t>(slot_bytes, 1), page_bytes)),
      reach_(reach == 0 ? slots : reach),
      slots_(slots),
      end_(no_end),
      latest_cycle_(SlotCycle(0, slots)),
      cycle_before_(SlotCycle(0, slots)) {
  if (slots == 0) throw Error(ErrorKind::usage, "a chunk pool has at least one slot");
  if (slots > most_slots) throw Error(ErrorKind::usage, "a chunk pool has at most 65535 slots");
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

void ChunkPool::restart(std::size_t slots) {
  assert(slots != 0 && slots <= size());
  end_ = no_end;
  latest_cycle_ = SlotCycle(0, slots);
  for (std::size_t i = 0; i < size(); ++i) {
    slots_[i].turn.store(i < slots ? turn_of(i, SlotState::empty) : unused);
  }
}

/// The change comes after the last chunk that anybody can have looked for, so that nobody has seen
/// the old ring for a chunk of the new one; and after whole rounds, so that a chunk meets no other
/// of its place in the round.
std::optional<std::size_t> ChunkPool::resize(std::size_t slots, std::size_t next) {
  assert(slots != 0 && slots <= size());
  const SlotCycle ring = latest_cycle_;
  const auto is_left = [&](const Slot& slot) {
    const std::uint64_t turn = slot.turn.load();
    if (turn == aborted) return false;  // what was there may still be in use
    return turn >= unused || turn >> stage_bits >= ring.first();
  };
  if (!std::ranges::all_of(slots_, is_left)) return std::nullopt;
  const std::size_t reach = std::max(reach_, ring.slots());  // empty slots await chunks, too
  const std::size_t first = ring.first() + round_up(next + reach - ring.first(), ring.slots());
  cycle_before_ = ring;  // where all that is in the pool lives, so this changes nothing for anybody
  latest_cycle_ = SlotCycle(first, slots);
  for (std::size_t i = ring.slots(); i < slots; ++i) {
    advance(slots_[i].turn, unused, turn_of(first + i, SlotState::empty));
  }
  return first;
}

std::size_t ChunkPool::slot_of(std::size_t index) const noexcept {
  const SlotCycle latest = latest_cycle_;
  return index >= latest.first() ? latest.slot_of(index) : cycle_before_.load().slot_of(index);
}

/// The chunk that follows this one in its slot, if any does.
std::optional<std::size_t> ChunkPool::successor(std::size_t index) const noexcept {
  const SlotCycle latest = latest_cycle_;
  if (index >= latest.first()) return index + latest.slots();
  const SlotCycle before = cycle_before_;
  const std::size_t next = index + before.slots();
  if (next < latest.first()) return next;
  const std::size_t slot = before.slot_of(index);
  if (slot >= latest.slots()) return std::nullopt;
  return latest.first() + slot;
}

Chunk* ChunkPool::wait(std::size_t index, SlotState stage) {
  Slot& slot = this->slot(index);
  const std::uint64_t wanted = turn_of(index, stage);
  std::uint64_t turn = slot.turn.load();
  while (turn != wanted) {
    if (turn == aborted) throw Aborted{};
    if (turn == closed || index >= end_.load()) return nullptr;
    slot.turn.wait(turn);
    turn = slot.turn.load();
  }
  if (stage == SlotState::empty) {
    slot.chunk.index = index;
    slot.chunk.segments.clear();
  }
  return &slot.chunk;
}

bool ChunkPool::ready(std::size_t index, SlotState stage) const noexcept {
  return slots_[slot_of(index)].turn.load() == turn_of(index, stage);
}

/// Goes from one turn to the next, unless abort() came first: that stays.
bool ChunkPool::advance(Turn& turn, std::uint64_t from, std::uint64_t to) {
  const bool advanced = turn.compare_exchange(from, to);
  assert(advanced || turn.load() >= closed);
  return advanced;
}

/// Ends the caller's turn at a chunk. False if the pass was aborted.
bool ChunkPool::leave(const Chunk& chunk, std::uint64_t next) {
  Turn& turn = slot(chunk.index).turn;
  const std::uint64_t ours = turn.load();
  assert(ours >= closed || (ours >> stage_bits == chunk.index && ours < next));
  return ours < closed && advance(turn, ours, next);
}

void ChunkPool::publish(const Chunk& chunk, SlotState reached) {
  leave(chunk, turn_of(chunk.index, reached));
}

void ChunkPool::recycle(const Chunk& chunk) {
  Slot& slot = this->slot(chunk.index);
  const std::optional<std::size_t> next = successor(chunk.index);
  const std::uint64_t empty = next ? turn_of(*next, SlotState::empty) : unused;
  if (!leave(chunk, empty) || !next) return;
  // We have written the turn and now read the end; end_at() writes the end and then reads the
  // turns. All four are sequentially consistent, so at least one of us sees what the other wrote
  // and closes the slot: nobody waits for a chunk that never comes.
  if (*next >= end_.load()) advance(slot.turn, empty, closed);
}

void ChunkPool::end_at(std::size_t index) {
  end_ = index;
  for (Slot& slot : slots_) {
    const std::uint64_t turn = slot.turn.load();
    if (is_empty_from(turn, index)) advance(slot.turn, turn, closed);
  }
}

void ChunkPool::abort() noexcept {
  for (Slot& slot : slots_) slot.turn.store(aborted);
}

bool ChunkPool::is_aborted() const noexcept {
  return slots_.front().turn.load() == aborted;
}

}  // namespace ooc
