#pragma once

#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/io/engine.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ooc {

/// Is told when a transfer begins a chunk and when the last byte of it is through: on the thread of
/// the transfer, which ends with what this throws. Chunks overlap, but not those of one slot.
class TransferObserver {
 public:
  virtual ~TransferObserver() = default;
  virtual void begun(std::size_t slot, std::size_t chunk) = 0;
  virtual void completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) = 0;
};

/// What Reader and Writer have in common: takes the chunks of a plan from the pool one after the
/// other, or is given single ones, cuts their extents into requests of one block each, and keeps as
/// many of these in flight as its engine takes, or as a tuner wants. Belongs to one thread;
/// bytes_done() may be called from any. Owns its engine, whose destructor waits for what is in
/// flight: pool and files must outlive the transfer.
class Transfer {
 public:
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// To be called before the transfer runs, if at all; the observer must outlive it.
  void set_observer(TransferObserver& observer) noexcept { observer_ = &observer; }

  /// To be called before the transfer runs, if at all: keeps as many requests in flight as `tuner`
  /// wants, and calls `changed` with each new number, on its own thread. The tuner must outlive the
  /// transfer. `now` is its clock.
  void set_tuner(QueueTuner& tuner, std::function<void(std::size_t depth)> changed,
                 std::function<QueueTuner::Clock::time_point()> now = QueueTuner::Clock::now);

  const Engine& engine() const noexcept { return *engine_; }

  /// Payload bytes that are through.
  std::uint64_t bytes_done() const noexcept { return bytes_done_.load(std::memory_order_relaxed); }

  /// Requests in flight.
  std::size_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }

  /// Seconds in which at least one request was in flight.
  double seconds_busy() const noexcept { return seconds_busy_; }

  /// Seconds in which none was, because the pool had no chunk for us.
  double seconds_waiting() const noexcept { return seconds_waiting_; }

 protected:
  struct Part : Request {
    std::size_t payload = 0;  // bytes of the extent among those of the request
    std::size_t slot = 0;     // of its chunk
  };

  struct ByteRange {
    std::uint64_t begin, end;
  };

  Transfer(const Plan& plan, ChunkPool& pool, std::unique_ptr<Engine> engine,
           std::size_t block_bytes);
  ~Transfer() = default;

  /// Transfers the chunks of the plan up to `end`, which is asked before each chunk, or to the end
  /// of the pool. Throws Error, Aborted; either way nothing is in flight afterwards but the
  /// requests of an engine that has died.
  void transfer_chunks(const std::function<std::size_t()>& end);

  /// Transfers one chunk that is the caller's and not the pool's: its index says which. `slot` is
  /// one of the pool's, of which no other chunk is under way. Throws Error.
  void transfer_chunk(Chunk& chunk, std::size_t slot);

  const Plan& plan() const noexcept { return plan_; }
  std::size_t block_bytes() const noexcept { return block_bytes_; }
  ChunkPool& pool() const noexcept { return pool_; }

  /// Blocks until chunk `index` can be transferred. Null if the pass ends before it. Throws
  /// Aborted.
  virtual Chunk* take(std::size_t index) = 0;

  /// take() without blocking: null if the chunk cannot be transferred now.
  virtual Chunk* try_take(std::size_t index) = 0;

  /// Sees to it that the chunk has a segment of its slot for each extent.
  virtual void lay_out(Chunk& chunk, std::span<const Extent> extents) = 0;

  /// The bytes of the file to transfer for an extent, which may be more than its own.
  virtual ByteRange range_of(const Extent& extent) const = 0;

  /// Where the request ends that begins at `offset` of an extent.
  virtual std::uint64_t end_of_request(const Extent& extent, std::uint64_t offset) const = 0;

  /// Fills in which file, and how; offset, memory and bytes are there.
  virtual void prepare(Part& part, const Extent& extent) const = 0;

  /// All bytes of a chunk are through.
  virtual void complete(Chunk& chunk) = 0;

 private:
  using Clock = std::chrono::steady_clock;

  /// What is left to request of the chunk begun last: the extents from `next` on, and of that one
  /// the bytes from `offset` on, which belong to `memory`.
  struct Remainder {
    std::span<const Extent> extents{};
    std::size_t next = 0;
    std::uint64_t offset = 0;
    std::byte* memory = nullptr;
  };

  struct InProgress {
    Chunk* chunk = nullptr;
    std::size_t requests = 0;         // in flight
    std::uint64_t payload_bytes = 0;  // that are through
    bool all_started = false;
  };

  using EndOfChunks = std::function<std::size_t()>;

  void run(const EndOfChunks& end);
  void drain() noexcept;
  bool start_requests(const EndOfChunks& end);
  Request& wait_for_request(const EndOfChunks& end, bool slot_is_missing);
  bool wait_for_next_chunk(const EndOfChunks& end);
  void begin_next_chunk(Chunk& chunk);
  void begin(Chunk& chunk, std::size_t slot);
  void tune(std::size_t payload_bytes);
  void begin_next_extent();
  void start_next_request();
  Chunk* finish(Part& part);

  const Plan& plan_;
  ChunkPool& pool_;
  std::size_t block_bytes_;
  TransferObserver* observer_ = nullptr;
  QueueTuner* tuner_ = nullptr;
  std::function<QueueTuner::Clock::time_point()> now_;  // for the tuner
  std::function<void(std::size_t depth)> depth_changed_;
  std::size_t most_in_flight_;
  std::vector<Extent> extents_;          // room for those of the chunk begun last
  std::vector<Part> parts_;              // one for each request that can be in flight
  std::vector<Part*> idle_;              // those that are not
  std::vector<InProgress> in_progress_;  // by slot
  std::size_t next_ = 0;                 // the first chunk of the pool not begun
  Chunk* chunk_ = nullptr;               // the one begun last
  std::size_t slot_ = 0;                 // of that one
  Remainder remainder_;
  Clock::time_point busy_since_{};
  std::atomic<std::uint64_t> bytes_done_{0};
  std::atomic<std::size_t> in_flight_{0};
  double seconds_waiting_ = 0;
  double seconds_busy_ = 0;
  std::unique_ptr<Engine> engine_;  // last: it uses requests among `parts_` to its end
};

}  // namespace ooc
