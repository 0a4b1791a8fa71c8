#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

namespace ooc {

/// A piece of a dataset in host memory. `segments` are its payload in order: one for each extent
/// of the plan, somewhere inside `memory` (direct reads fetch whole blocks around it). Once it is
/// computed, they are what is to be written.
struct Chunk {
  std::size_t index = 0;
  std::span<std::byte> memory{};
  std::vector<std::span<std::byte>> segments{};
};

/// How far a chunk has come.
enum class SlotState : std::uint8_t { empty, loaded, computed };

/// Thrown in every waiter after abort(): the echo of an error that is reported elsewhere.
struct Aborted {};

/// A circular pool of chunks: chunk k lives in slot k % size(), as long as all slots are in use
/// (see resize). Whose turn it is at a slot is one atomic word, the index of a chunk and its stage:
///
///     slot s:  (s, empty) -> (s, loaded) -> (s + size, empty) -> (s + size, loaded) -> ...
///              reader         lane          reader               lane
///
/// and if the pass writes a file, (s, loaded) -> (s, computed) -> (s + size, empty), where a chunk
/// that is computed is the writer's.
///
/// All users know the plan, so everyone knows which turns are theirs and waiting for them is the
/// only synchronisation there is: no queue, no lock, no end-of-stream mark. Between two passes
/// restart() rewinds it. Allocates in the constructor only.
class ChunkPool {
 public:
  /// `max_segments`: the most segments that a chunk will have (they are reserved here). `reach`:
  /// how far anybody looks ahead of who takes the empty chunks, which resize() must know; if 0,
  /// less than there are slots.
  ChunkPool(std::pmr::memory_resource& memory, std::size_t slots, std::size_t slot_bytes,
            std::size_t max_segments, std::size_t reach = 0);
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  std::size_t size() const noexcept { return slots_.size(); }
  std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  std::size_t reach() const noexcept { return reach_; }
  std::span<std::byte> memory() const noexcept { return memory_; }

  /// Makes every slot empty again, for the chunks 0 to size() - 1. Nobody may be waiting.
  void restart() { restart(size()); }

  /// The same with only the first `slots` in use.
  void restart(std::size_t slots);

  /// Changes how many slots are in use, from a chunk on that is returned: k and its successors live
  /// in the first `slots` slots. For who takes the empty chunks, and has taken those before `next`;
  /// nobody else may look for a chunk reach() or more beyond these. Nothing while chunks from
  /// before the last change are still in the pool.
  std::optional<std::size_t> resize(std::size_t slots, std::size_t next);

  /// Where chunk `index` lives: one that is in the pool, or the next to come there.
  std::size_t slot_of(std::size_t index) const noexcept;

  /// Blocks until chunk `index` is at `stage` and lends it out. Null if the source ended before it
  /// (see end_at). Throws Aborted.
  Chunk* wait(std::size_t index, SlotState stage);

  /// Whether wait() would return a chunk at once.
  bool ready(std::size_t index, SlotState stage) const noexcept;

  /// Hands a chunk to who waits for it at that stage, the next one or a later one.
  void publish(const Chunk& chunk, SlotState reached);

  /// Gives its slot back, empty, for the next chunk there.
  void recycle(const Chunk& chunk);

  /// Ends the pass early: chunks from `index` on will not come, whoever waits for one gets null.
  /// Called by the reader, which has not touched those chunks.
  void end_at(std::size_t index);

  /// Wakes every waiter with Aborted. Any thread, any time.
  void abort() noexcept;
  bool is_aborted() const noexcept;

 private:
  /// One word, and waiting for it to change. Who waits for a word of 64 bits sleeps on a counter
  /// that libstdc++ shares out among many, so a change of one slot would wake those who wait for
  /// another; a word of 32 bits is slept on itself.
  class Turn {
   public:
    std::uint64_t load() const noexcept { return word_.load(); }

    /// Blocks while the word is `seen`.
    void wait(std::uint64_t seen) const noexcept {
      const std::uint32_t changes = changes_.load();
      if (word_.load() == seen) changes_.wait(changes);
    }

    void store(std::uint64_t word) noexcept {
      word_.store(word);
      wake();
    }
    bool compare_exchange(std::uint64_t from, std::uint64_t to) noexcept {
      const bool exchanged = word_.compare_exchange_strong(from, to);
      if (exchanged) wake();
      return exchanged;
    }

   private:
    void wake() noexcept {
      changes_.fetch_add(1);
      changes_.notify_all();
    }

    std::atomic<std::uint64_t> word_{0};
    std::atomic<std::uint32_t> changes_{0};
  };

  struct alignas(128) Slot {  // two cache lines: neighbours are prefetched in pairs
    Turn turn;
    Chunk chunk;
  };

  /// Chunks from `first` on go round and round in the first `slots` slots. In one word, so that it
  /// changes at once.
  class SlotCycle {
   public:
    SlotCycle(std::size_t first, std::size_t slots) noexcept : word_(first << slot_bits | slots) {}
    std::size_t first() const noexcept { return word_ >> slot_bits; }
    std::size_t slots() const noexcept { return word_ & most_slots; }
    std::size_t slot_of(std::size_t index) const noexcept { return (index - first()) % slots(); }

   private:
    static constexpr unsigned slot_bits = 16;
    std::uint64_t word_;
  };
  static constexpr std::size_t most_slots = 65535;

  Slot& slot(std::size_t index) { return slots_[slot_of(index)]; }
  std::optional<std::size_t> successor(std::size_t index) const noexcept;
  static bool advance(Turn& turn, std::uint64_t from, std::uint64_t to);
  bool leave(const Chunk& chunk, std::uint64_t next);

  std::pmr::memory_resource& resource_;
  std::size_t slot_bytes_;
  std::size_t reach_;
  std::span<std::byte> memory_;
  std::vector<Slot> slots_;
  std::atomic<std::size_t> end_;
  std::atomic<SlotCycle> latest_cycle_;
  std::atomic<SlotCycle> cycle_before_;  // of chunks that the latest does not have
};

}  // namespace ooc
