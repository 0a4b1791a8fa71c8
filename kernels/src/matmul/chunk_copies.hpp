#pragma once

#include <ooc/detail/observe/reporters.hpp>
#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail::product {

enum class CopyDirection { h2d, d2h };

/// Returns the kind of trace event for a copy in this direction.
TraceEvent::Kind kind_of(CopyDirection direction);

/// Copies between contiguous device memory and the segments of a chunk, which all have one length,
/// in as few calls as possible.
void copy(Stream& stream, CopyDirection direction, std::byte* device,
          std::span<const std::span<std::byte>> segments);

/// Copies the chunks of a pool to or from a device. One thread takes chunks in order and enqueues
/// their copies; a chunk is handed on when its copies have completed.
class ChunkCopies {
 public:
  /// `hand_on` is called with each chunk whose copies have completed, in order, after the observer.
  ChunkCopies(Device& device, ChunkPool& pool, CopyDirection direction, const Observe& observe,
              std::function<void(const Chunk&)> hand_on);

  /// Returns chunk `index` as soon as it is ready to be copied; null if the pool ends before it.
  /// While it waits, hands on the chunks whose copies complete, since other threads may need their
  /// slots.
  Chunk* take(std::size_t index);

  /// Called before and after the copies of a chunk are enqueued.
  void begin(Stream& stream);
  void end(Stream& stream, Chunk& chunk);

  /// Waits for all copies, and hands on all chunks.
  void finish();

  double copy_seconds() const { return copy_seconds_; }  // device time
  double wait_seconds() const { return wait_seconds_; }  // time that take() waited

 private:
  Chunk* try_take(std::size_t index);
  struct Events {
    std::unique_ptr<Event> begun, ended;
  };

  void finish_oldest();

  ChunkPool& pool_;
  CopyDirection direction_;
  EventReporter reporter_;
  std::function<void(const Chunk&)> hand_on_;
  // Used in rotation; one for each chunk whose copies may be in flight.
  std::vector<Events> events_;
  std::size_t next_ = 0;
  std::deque<Chunk*> under_way_;
  double copy_seconds_ = 0;
  double wait_seconds_ = 0;
};

}  // namespace ooc::detail::product
