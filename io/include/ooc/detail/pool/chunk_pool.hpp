#pragma once

#include <ooc/detail/pool/slots.hpp>
#include <ooc/detail/pool/turns.hpp>

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

namespace ooc {

/// A piece of a dataset in host memory. `segments` are its payload in order: one for each extent of
/// the plan, at any offset in `memory` (direct reads fetch whole blocks around it). Once the chunk
/// is computed, they are what is to be written.
struct Chunk {
  std::size_t index = 0;
  std::span<std::byte> memory{};
  std::vector<std::span<std::byte>> segments{};
};

/// The chunks of a pass that are in host memory: Slots hold them, and Turns say which thread may
/// use which. Chunk k takes the lowest free slot when it is begun, and gives it back when it is
/// finished:
///
///     begin (reader) -> loaded (lane) -> recycled
///                                     -> computed (writer) -> recycled     if the pass writes
///
/// Chunks are begun in order, by one thread. Allocates in the constructor only.
class ChunkPool final : public MeetingPoint {
 public:
  /// `max_segments`: the most segments that a chunk will have.
  ChunkPool(std::pmr::memory_resource& memory, std::size_t slots, std::size_t slot_bytes,
            std::size_t max_segments);

  std::size_t size() const noexcept { return slots_.size(); }
  std::size_t slot_bytes() const noexcept { return slots_.slot_bytes(); }
  std::span<std::byte> memory() const noexcept { return slots_.memory(); }

  /// Begins another sequence of chunks, in the first `limit` slots. No thread may be waiting.
  void restart(std::size_t limit) noexcept;
  void restart() noexcept { restart(size()); }

  /// Only the first `slots` slots are used for chunks that are begun from now on. Any thread.
  void set_limit(std::size_t slots) noexcept { slots_.set_limit(slots); }

  /// Blocks until there is a slot for chunk `index`, which is empty then. Null if the sequence ends
  /// before it (see end_at). Throws Aborted.
  Chunk* begin(std::size_t index);

  /// begin() without blocking: null if there is no slot now, or no such chunk any more.
  Chunk* try_begin(std::size_t index);

  /// Blocks until chunk `index` is loaded or computed. Null if the sequence ends before it. Throws
  /// Aborted.
  Chunk* wait(std::size_t index, ChunkState state);

  /// True if wait() would return a chunk at once.
  bool is_at(std::size_t index, ChunkState state) const noexcept {
    return turns_.is_at(index, state);
  }

  /// Passes a chunk on to the thread that waits for it at `state`.
  void publish(const Chunk& chunk, ChunkState state) noexcept {
    turns_.move_to(chunk.index, state);
  }

  /// Gives the slot of a chunk back.
  void recycle(const Chunk& chunk) noexcept;

  /// The slot of a chunk that has been begun.
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

}  // namespace ooc
