#pragma once

#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/detail/transfer/transfer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace ooc::detail {

/// Fills the chunks of a pool from a producer, as a Reader does from files. The number of chunks is
/// known only when the producer ends.
class ProducerReader final : public MeetingPoint {
 public:
  /// Each chunk but the last has `chunk_bytes` bytes, and all have whole records. After `stop`, the
  /// records received so far are the last chunk. All references must outlive it.
  ProducerReader(Producer& producer, ChunkPool& pool, std::uint64_t chunk_bytes,
                 std::size_t record_bytes, std::stop_token stop);

  /// Sets an observer, before the reader runs. It must outlive the reader.
  void set_observer(TransferObserver& observer) noexcept { observer_ = &observer; }

  /// Reads to the end. Throws Error: `bad_input` if the data end within a record, `usage` if the
  /// producer reports more bytes than it had room for; exceptions of the producer; Aborted.
  void run();

  /// Makes the producer return soon.
  void abort() noexcept override {
    is_aborted_ = true;
    stop_.request_stop();
  }

  std::uint64_t bytes_done() const noexcept { return bytes_done_.load(std::memory_order_relaxed); }

  /// True if the producer has come to its end.
  bool has_ended() const noexcept { return has_ended_; }

  /// Time in the producer, and time in which it waited for a free slot (seconds).
  double seconds_busy() const noexcept { return seconds_busy_; }
  double seconds_waiting() const noexcept { return seconds_waiting_; }

 private:
  std::uint64_t fill(Chunk& chunk);

  Producer& producer_;
  ChunkPool& pool_;
  std::uint64_t chunk_bytes_;
  std::size_t record_bytes_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> stopped_by_user_;
  TransferObserver* observer_ = nullptr;
  std::atomic<std::uint64_t> bytes_done_{0};
  std::atomic<bool> has_ended_{false}, is_aborted_{false};
  double seconds_busy_ = 0, seconds_waiting_ = 0;
};

}  // namespace ooc::detail
