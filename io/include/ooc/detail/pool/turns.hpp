#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ooc::detail {

/// Thrown in every waiting thread after abort(). The error that caused it is reported elsewhere.
struct Aborted {};

/// An object that threads of a pass wait for.
class MeetingPoint {
 public:
  /// Makes all waiting threads throw Aborted. May be called by any thread, at any time.
  virtual void abort() noexcept = 0;

 protected:
  ~MeetingPoint() = default;
};

/// The progress of a chunk, or of another item of a sequence. An item goes through the states in
/// this order, and may skip some.
enum class ChunkState : std::uint8_t { empty, loaded, computed };

/// Order without memory: the states of the indices 0, 1, 2 ... of a sequence. Threads wait for an
/// index to reach a state. One atomic word holds the state of index k and, once k is finished, that
/// of k + window:
///
///     (k, empty) -> (k, loaded) -> (k, computed) -> (k + window, empty) -> ...
///
/// All threads know the sequence, so each knows what to wait for: there is no queue and no lock. In
/// each state an index belongs to one thread, and only that thread moves it on. If the window is 1,
/// the indices are processed one after another. A larger window bounds how far the newest index may
/// be ahead of the oldest one that is not finished.
class Turns final : public MeetingPoint {
 public:
  explicit Turns(std::size_t window);

  std::size_t window() const noexcept { return words_.size(); }

  /// Begins another sequence. No thread may be waiting.
  void restart() noexcept;

  /// Blocks until `index` is at `state`. Returns false if the sequence ends before `index`. Throws
  /// Aborted.
  bool wait(std::size_t index, ChunkState state);

  /// True if wait() would return true at once.
  bool is_at(std::size_t index, ChunkState state) const noexcept;

  /// Moves an index to a later state.
  void move_to(std::size_t index, ChunkState state) noexcept;

  /// Finishes `index`: index + window is empty now.
  void finish(std::size_t index) noexcept;

  /// Ends the sequence before `index`: wait() returns false for it and for all later ones. Several
  /// threads may call this; the lowest index holds.
  void end_at(std::size_t index) noexcept;

  /// Returns the index at which the sequence ends; the largest number if no end is set.
  std::size_t end() const noexcept { return end_; }

  void abort() noexcept override;
  bool is_aborted() const noexcept { return aborted_; }

 private:
  /// Threads sleep on `changes`. It has 32 bits, the size of a futex: waiting for 64 bits would use
  /// a futex that is shared with other atomics.
  struct alignas(128) Word {  // two cache lines, since neighbours are prefetched in pairs
    std::atomic<std::uint64_t> turn{0};
    std::atomic<std::uint32_t> changes{0};
  };

  Word& word(std::size_t index) noexcept { return words_[index % words_.size()]; }
  static void set(Word& word, std::uint64_t turn) noexcept;
  static void wake(Word& word) noexcept;

  static constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();

  std::vector<Word> words_;
  std::atomic<std::size_t> end_{no_end};
  std::atomic<bool> aborted_{false};
};

}  // namespace ooc::detail
