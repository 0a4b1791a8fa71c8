#pragma once

#include <ooc/device.hpp>
#include <ooc/io/chunk_pool.hpp>
#include <ooc/reporters.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ooc::product {

enum class CopyDirection { h2d, d2h };

/// What an observer is told of such a copy.
TraceEvent::Kind kind_of(CopyDirection direction);

/// Copies between adjacent elements on the device and the segments of a chunk, all of one length,
/// in as few calls as possible.
void copy(Stream& stream, CopyDirection direction, std::byte* device,
          std::span<const std::span<std::byte>> segments);

/// The chunks of a pool on their way to a device, or from it: one thread takes them in turn and
/// enqueues their copies; those whose copies have ended are handed on.
class ChunkCopies {
 public:
  /// `hand_on` is called with each chunk whose copies have ended, in order, after the observer.
  ChunkCopies(Device& device, ChunkPool& pool, CopyDirection direction, const Observe& observe,
              std::function<void(const Chunk&)> hand_on);

  /// The chunk `index`, when it is at the stage to be copied at; until then those whose copies end
  /// are handed on, since somebody may be waiting for their slots. Null if the pool ends before it.
  Chunk* take(std::size_t index);

  /// To be called before the copies of a chunk are enqueued, and after.
  void begin(Stream& stream);
  void end(Stream& stream, Chunk& chunk);

  /// Hands on all that were taken.
  void finish();

  double copy_seconds() const { return copy_seconds_; }  // on the device
  double wait_seconds() const { return wait_seconds_; }  // for chunks

 private:
  struct Events {
    std::unique_ptr<Event> begun, ended;
  };

  void finish_oldest();

  ChunkPool& pool_;
  CopyDirection direction_;
  SlotState awaited_;
  EventReporter reporter_;
  std::function<void(const Chunk&)> hand_on_;
  std::vector<Events> events_;  // taken in turn; one for each chunk that may be under way
  std::size_t next_ = 0;
  std::deque<Chunk*> under_way_;
  double copy_seconds_ = 0;
  double wait_seconds_ = 0;
};

}  // namespace ooc::product
