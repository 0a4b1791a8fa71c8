#pragma once

#include <ooc/detail/pool/slots.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace ooc::detail {

/// A piece of a dataset in host memory. `segments` are its payload in order, one for each extent of
/// the plan. They may begin anywhere in `memory`, because direct reads fetch whole blocks around an
/// extent. Once the chunk is computed, they are the data to write.
struct Chunk {
  std::size_t index = 0;
  std::span<std::byte> memory{};
  std::vector<std::span<std::byte>> segments{};
  bool has_turn = true;  // see ChunkPool::end_turn()
};

/// The chunks of a pass that are in host memory. Slots hold them, and Turns say which thread may
/// use which. Chunk k takes the lowest free slot when it is begun, and gives it back when it is
/// finished:
///
///     begin (reader) -> loaded (lane) -> recycled
///                                     -> computed (writer) -> recycled     if the pass writes
///
/// One thread begins the chunks, in order. Allocates in the constructor only.
class ChunkPool final : public MeetingPoint {
 public:
  /// `max_segments`: the largest number of segments of a chunk.
  ChunkPool(MemoryResource& memory, std::size_t slots, std::size_t slot_bytes,
            std::size_t max_segments);

  std::size_t size() const noexcept { return slots_.size(); }
  std::size_t slot_bytes() const noexcept { return slots_.slot_bytes(); }

  /// The indices of chunks that are in the pool at a time differ modulo this number.
  std::size_t window() const noexcept { return turns_.window(); }
  std::span<std::byte> memory() const noexcept { return slots_.memory(); }

  /// Begins another sequence of chunks, which uses the first `limit` slots. No thread may be
  /// waiting.
  void restart(std::size_t limit) noexcept;
  void restart() noexcept { restart(size()); }

  /// Restricts chunks that are begun from now on to the first `slots` slots. Any thread.
  void set_limit(std::size_t slots) noexcept { slots_.set_limit(slots); }

  /// Blocks until there is a slot for chunk `index`. Returns the chunk, without segments; null if
  /// the sequence ends before it (see end_at). Throws Aborted.
  Chunk* begin(std::size_t index);

  /// Like begin(), without blocking: returns null if there is no slot now, if the sequence ends
  /// before the chunk, or after abort().
  Chunk* try_begin(std::size_t index);

  /// Blocks until chunk `index` is at `state`, loaded or computed, and returns it. Returns null if
  /// the sequence ends before it. Throws Aborted.
  Chunk* wait(std::size_t index, ChunkState state);

  /// True if wait() would return a chunk at once.
  bool is_at(std::size_t index, ChunkState state) const noexcept {
    return turns_.is_at(index, state);
  }

  /// Moves a chunk to `state`, and so to the thread that waits for it there.
  void publish(const Chunk& chunk, ChunkState state) noexcept {
    turns_.move_to(chunk.index, state);
  }

  /// Lets the sequence go on without a chunk that keeps its slot for long.
  void end_turn(Chunk& chunk) noexcept;

  /// Gives the slot of a chunk back.
  void recycle(const Chunk& chunk) noexcept;

  /// Returns the slot of a chunk that has been begun.
  std::size_t slot_of(const Chunk& chunk) const noexcept {
    return static_cast<std::size_t>(&chunk - chunks_.data());
  }

  /// Ends the sequence before `index`. Any thread.
  void end_at(std::size_t index) noexcept;

  void abort() noexcept override;
  bool is_aborted() const noexcept { return turns_.is_aborted(); }

 private:
  Slots slots_;
  Turns turns_;
  std::vector<Chunk> chunks_;         // by slot
  std::vector<std::size_t> slot_of_;  // by index modulo the window of turns_
};

}  // namespace ooc::detail
