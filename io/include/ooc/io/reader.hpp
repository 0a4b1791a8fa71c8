#pragma once

#include <ooc/io/chunk_pool.hpp>
#include <ooc/io/engine.hpp>
#include <ooc/io/plan.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace ooc {

/// Loads the chunks of a plan into a pool, in order, keeping the engine as busy as it can be.
/// Belongs to one thread; bytes_read() may be called from any.
class Reader {
 public:
  /// `direct`: bypass the page cache for the files that allow it. `block_bytes`: the size of one
  /// request. All references must outlive the reader.
  Reader(std::span<const File> files, const Plan& plan, ChunkPool& pool, Engine& engine,
         std::size_t block_bytes, bool direct);

  /// Reads the whole plan. A stop request ends the pass after the chunks begun so far: the pool
  /// then ends early and the lanes see a prefix of the data. Throws Error, Aborted; either way no
  /// request is in flight afterwards.
  void run(const std::stop_token& stop);

  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

  /// Seconds in which nothing was read because no slot was free.
  double seconds_without_slot() const noexcept { return seconds_without_slot_; }

  /// Seconds in which at least one request was in flight.
  double seconds_busy() const noexcept { return seconds_busy_; }

  /// Bytes that a slot needs beyond the chunk's payload, for the block ends around its extents.
  static std::size_t slack_bytes(std::span<const File> files, std::size_t max_extents, bool direct);

 private:
  using Clock = std::chrono::steady_clock;

  struct Read : Request {
    std::size_t payload = 0;  // bytes of the chunk among those needed
  };

  /// What is left to request of the chunk begun last: the extents from `next` on, and of that one
  /// the blocks from `offset` on, which go to `memory`.
  struct Remainder {
    std::span<const Extent> extents{};
    std::size_t next = 0;
    std::uint64_t offset = 0;
    std::byte* memory = nullptr;
  };

  struct InProgress {
    Chunk* chunk = nullptr;
    std::size_t requests = 0;  // not yet finished
  };

  struct Range {
    std::uint64_t begin, end;
  };

  void read_chunks(const std::stop_token& stop);
  void drain() noexcept;
  void start_requests(const std::stop_token& stop);
  bool wait_for_next_chunk(const std::stop_token& stop);
  bool reads_directly(const Extent& extent) const;
  Range blocks_of(const Extent& extent) const;
  void begin(Chunk& chunk);
  void begin_next_extent();
  void start_next_request();
  Chunk* finish(Read& read);

  std::span<const File> files_;
  const Plan& plan_;
  ChunkPool& pool_;
  Engine& engine_;
  std::size_t block_bytes_;
  bool direct_;
  std::vector<Extent> extents_;          // room for those of the chunk begun last
  std::vector<Read> reads_;              // one for each request that can be in flight
  std::vector<Read*> idle_;              // those that are not
  std::vector<InProgress> in_progress_;  // by slot
  std::size_t next_ = 0;                 // the first chunk not begun
  Chunk* chunk_ = nullptr;               // the one begun last
  Remainder remainder_;
  Clock::time_point busy_since_{};
  std::atomic<std::uint64_t> bytes_read_{0};
  double seconds_without_slot_ = 0;
  double seconds_busy_ = 0;
};

}  // namespace ooc
