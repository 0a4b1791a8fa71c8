#include <ooc/detail/transfer/producer_reader.hpp>
#include <ooc/error.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace ooc::detail {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Error too_many(const Producer& producer) {
  return {ErrorKind::usage,
          producer.name() + ": fill() returns more bytes than there was room for",
          {.why = "a negative number, say of read(), is such a large one"}};
}

Error rest_of(const Producer& producer, std::uint64_t bytes, std::size_t record_bytes) {
  const std::uint64_t rest = bytes % record_bytes;
  return {ErrorKind::bad_input,
          producer.name() + ": " + std::to_string(bytes) +
              " bytes are not a whole number of records of " + std::to_string(record_bytes) +
              " bytes",
          {.why = std::to_string(rest) + (rest == 1 ? " byte is" : " bytes are") + " left over"}};
}

}  // namespace

ProducerReader::ProducerReader(Producer& producer, ChunkPool& pool, std::uint64_t chunk_bytes,
                               std::size_t record_bytes, std::stop_token stop)
    : producer_(producer),
      pool_(pool),
      chunk_bytes_(chunk_bytes),
      record_bytes_(record_bytes),
      stopped_by_user_(std::move(stop), [this] { stop_.request_stop(); }) {}

void ProducerReader::run() {
  for (std::size_t index = 0;; ++index) {
    const Clock::time_point begin = Clock::now();
    Chunk* const chunk = pool_.begin(index);
    seconds_waiting_ += seconds_since(begin);
    if (chunk == nullptr) return;
    if (observer_ != nullptr) observer_->begun(pool_.slot_of(*chunk), index);
    const std::uint64_t bytes = fill(*chunk);
    if (bytes == 0 || is_aborted_) {
      pool_.end_at(index);
      pool_.recycle(*chunk);
      return;
    }
    if (observer_ != nullptr) observer_->completed(pool_.slot_of(*chunk), index, bytes);
    // Lanes that have drawn the last step wait for it, also after a stop.
    if (bytes < chunk_bytes_) pool_.end_at(index + 1);
    pool_.publish(*chunk, ChunkState::loaded);
    if (bytes < chunk_bytes_) return;
  }
}

/// Fills a chunk, or a part of it at the end or after a stop. Returns the bytes of its records.
std::uint64_t ProducerReader::fill(Chunk& chunk) {
  const std::span<std::byte> room = chunk.memory.first(chunk_bytes_);
  std::size_t done = 0;
  while (done < room.size() && !stop_.stop_requested()) {
    const std::span<std::byte> left = room.subspan(done);
    const Clock::time_point begin = Clock::now();
    const std::size_t bytes = producer_.fill(left, stop_.get_token());
    seconds_busy_ += seconds_since(begin);
    if (bytes > left.size()) throw too_many(producer_);
    if (bytes == 0) {
      has_ended_ = !stop_.stop_requested();
      break;
    }
    done += bytes;
    bytes_done_.fetch_add(bytes, std::memory_order_relaxed);
  }
  const std::uint64_t rest = done % record_bytes_;
  if (has_ended_ && rest != 0) throw rest_of(producer_, bytes_done(), record_bytes_);
  chunk.segments.push_back(room.first(done - rest));
  return done - rest;
}

}  // namespace ooc::detail
