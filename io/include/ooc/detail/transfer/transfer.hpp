#pragma once

#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/pool/plan.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail {

/// An observer of a transfer: it is called when a chunk is begun and when its last byte has been
/// transferred. The calls are on the thread of the transfer, and an exception ends the transfer.
/// Chunks overlap in time, but not those of one slot.
class TransferObserver {
 public:
  virtual ~TransferObserver() = default;
  virtual void begun(std::size_t slot, std::size_t chunk) = 0;
  virtual void completed(std::size_t slot, std::size_t chunk, std::uint64_t payload_bytes) = 0;
};

/// The common base of Reader and Writer. It takes the chunks of a plan from the pool one after
/// another, or is given single ones. It makes runs of their extents, cuts these into requests of
/// one block each, and keeps as many requests in flight as its engine takes, or as a tuner wants. A
/// chunk without extents is complete at once. A transfer belongs to one thread, but any thread may
/// call bytes_done() and in_flight(). It owns its engine, whose destructor waits for the requests
/// in flight: pool and files must outlive the transfer.
class Transfer {
 public:
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Sets an observer, before the transfer runs. It must outlive the transfer.
  void set_observer(TransferObserver& observer) noexcept { observer_ = &observer; }

  /// Sets a tuner, before the transfer runs. The transfer then keeps as many requests in flight as
  /// `tuner` wants, and calls `changed` with each new number, on its own thread. The tuner must
  /// outlive the transfer. `now` is its clock.
  void set_tuner(QueueTuner& tuner, std::function<void(std::size_t depth)> changed,
                 std::function<QueueTuner::Clock::time_point()> now = QueueTuner::Clock::now);

  const Engine& engine() const noexcept { return *engine_; }

  /// Payload bytes of all completed requests.
  std::uint64_t bytes_done() const noexcept { return bytes_done_.load(std::memory_order_relaxed); }

  /// Times that a request was repeated, of all completed requests.
  std::uint64_t retries() const noexcept { return retries_; }

  /// Number of requests in flight.
  std::size_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }

  /// Time during which at least one request was in flight (seconds).
  double seconds_busy() const noexcept { return seconds_busy_; }

  /// Time during which the transfer waited for a chunk of the pool with no request in flight
  /// (seconds).
  double seconds_waiting() const noexcept { return seconds_waiting_; }

 protected:
  struct Part : Request {
    std::size_t payload = 0;  // bytes of extents among those of the request
    std::size_t slot = 0;     // of its chunk
  };

  /// Consecutive bytes of a file and consecutive memory: an extent, or several that are neighbours,
  /// with the rest of the blocks at both ends if whole blocks are transferred.
  struct Run {
    std::uint32_t file;
    bool direct;                               // bypasses the page cache
    std::uint64_t begin, end;                  // of the bytes that are still to be requested
    std::uint64_t payload_begin, payload_end;  // of the extents
    std::byte* memory;                         // of the byte at `begin`
  };

  Transfer(const Plan& plan, ChunkPool& pool, std::unique_ptr<Engine> engine,
           std::size_t block_bytes);
  ~Transfer() = default;

  /// Transfers the chunks that the plan has before `end()`, which is called before each chunk, or
  /// up to the end of the sequence of the pool. Throws Error, Aborted. In either case no request is
  /// in flight afterwards, except those of an engine that has died.
  void transfer_chunks(const std::function<std::size_t()>& end);

  /// Transfers one chunk, which belongs to the caller and not to the pool. Its index says which
  /// chunk of the plan it is. `slot`: a slot of the pool in which no other chunk is in progress.
  /// Throws Error.
  void transfer_chunk(Chunk& chunk, std::size_t slot);

  const Plan& plan() const noexcept { return plan_; }
  std::size_t block_bytes() const noexcept { return block_bytes_; }
  ChunkPool& pool() const noexcept { return pool_; }

  /// Blocks until chunk `index` can be transferred, and returns it. Returns null if the pass ends
  /// before it. Throws Aborted.
  virtual Chunk* take(std::size_t index) = 0;

  /// Like take(), without blocking: returns null if the chunk cannot be transferred now.
  virtual Chunk* try_take(std::size_t index) = 0;

  /// Ensures that the chunk has a segment of its slot for each extent, and appends the runs of the
  /// extents to `runs`. That is empty, and has room for as many as there are extents.
  virtual void lay_out(Chunk& chunk, std::span<const Extent> extents, std::vector<Run>& runs) = 0;

  /// Returns the end of the request that begins where the run does.
  virtual std::uint64_t end_of_request(const Run& run) const = 0;

  /// Sets the file of a request and how to access it. Offset, memory and bytes are set already.
  virtual void prepare(Part& part, const Run& run) const = 0;

  /// Called when all bytes of a chunk have been transferred.
  virtual void complete(Chunk& chunk) = 0;

 private:
  using Clock = std::chrono::steady_clock;

  struct InProgress {
    Chunk* chunk = nullptr;
    std::size_t requests = 0;         // in flight
    std::uint64_t payload_bytes = 0;  // of completed requests
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
  bool all_started() const noexcept { return run_ == runs_.size(); }
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
  std::vector<Extent> extents_;          // memory for those of the current chunk
  std::vector<Run> runs_;                // of the current chunk
  std::size_t run_ = 0;                  // the first of them that is still to be requested
  std::vector<Part> parts_;              // one for each request that can be in flight
  std::vector<Part*> idle_;              // those that are not in flight
  std::vector<InProgress> in_progress_;  // by slot
  std::size_t next_ = 0;                 // index of the next chunk of the pool
  Chunk* chunk_ = nullptr;               // the current one: begun last
  std::size_t slot_ = 0;                 // of the current chunk
  Clock::time_point busy_since_{};
  std::atomic<std::uint64_t> bytes_done_{0};
  std::uint64_t retries_ = 0;
  std::atomic<std::size_t> in_flight_{0};
  double seconds_waiting_ = 0;
  double seconds_busy_ = 0;
  std::unique_ptr<Engine> engine_;  // last: its destructor waits for requests in `parts_`
};

}  // namespace ooc::detail
