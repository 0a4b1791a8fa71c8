#include "matmul/chunk_copies.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ooc::detail::product {

namespace {

/// True if the distance from each segment to the next is the same. All have one length.
bool are_evenly_spaced(std::span<const std::span<std::byte>> segments) {
  const auto distance = segments[1].data() - segments[0].data();
  for (std::size_t i = 2; i < segments.size(); ++i) {
    if (segments[i].data() - segments[i - 1].data() != distance) return false;
  }
  return true;
}

}  // namespace

void copy(Stream& stream, CopyDirection direction, std::byte* device,
          std::span<const std::span<std::byte>> segments) {
  const std::size_t bytes = segments[0].size();
  std::byte* const first = segments[0].data();
  if (segments.size() > 1 && are_evenly_spaced(segments)) {
    const auto pitch = static_cast<std::size_t>(segments[1].data() - first);
    if (direction == CopyDirection::h2d) {
      stream.copy_rows(device, bytes, first, pitch, bytes, segments.size());
    } else {
      stream.copy_rows(first, pitch, device, bytes, bytes, segments.size());
    }
    return;
  }
  for (const std::span<std::byte> segment : segments) {
    if (direction == CopyDirection::h2d) {
      stream.copy(device, segment.data(), bytes);
    } else {
      stream.copy(segment.data(), device, bytes);
    }
    device += bytes;
  }
}

TraceEvent::Kind kind_of(CopyDirection direction) {
  return direction == CopyDirection::h2d ? TraceEvent::Kind::h2d : TraceEvent::Kind::d2h;
}

ChunkCopies::ChunkCopies(Device& device, ChunkPool& pool, CopyDirection direction,
                         const Observe& observe, std::function<void(const Chunk&)> hand_on)
    : pool_(pool),
      direction_(direction),
      reporter_(device, observe),
      hand_on_(std::move(hand_on)),
      events_(std::max<std::size_t>(pool.size() / 2, 1)) {
  for (Events& events : events_) events = {device.make_event(), device.make_event()};
}

Chunk* ChunkCopies::try_take(std::size_t index) {
  if (direction_ == CopyDirection::d2h) return pool_.try_begin(index);
  const bool is_loaded = pool_.is_at(index, ChunkState::loaded);
  return is_loaded ? pool_.wait(index, ChunkState::loaded) : nullptr;
}

Chunk* ChunkCopies::take(std::size_t index) {
  const auto since = std::chrono::steady_clock::now();
  const auto full = [this] { return under_way_.size() == events_.size(); };
  Chunk* chunk = nullptr;
  while (!under_way_.empty() && (full() || (chunk = try_take(index)) == nullptr)) finish_oldest();
  if (chunk == nullptr) {
    chunk = direction_ == CopyDirection::h2d ? pool_.wait(index, ChunkState::loaded)
                                             : pool_.begin(index);
  }
  wait_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  return chunk;
}

void ChunkCopies::begin(Stream& stream) {
  stream.record(*events_[next_].begun);
}

void ChunkCopies::end(Stream& stream, Chunk& chunk) {
  stream.record(*events_[next_].ended);
  next_ = (next_ + 1) % events_.size();
  under_way_.push_back(&chunk);
}

void ChunkCopies::finish() {
  while (!under_way_.empty()) finish_oldest();
}

void ChunkCopies::finish_oldest() {
  const std::size_t oldest = (next_ + events_.size() - under_way_.size()) % events_.size();
  const Events& events = events_[oldest];
  events.ended->synchronize();
  copy_seconds_ += events.ended->seconds_since(*events.begun);
  const Chunk& chunk = *under_way_.front();
  const std::size_t bytes = chunk.segments.size() * chunk.segments[0].size();
  reporter_.report({.kind = kind_of(direction_), .chunk = chunk.index, .bytes = bytes},
                   *events.begun, *events.ended);
  hand_on_(chunk);
  under_way_.pop_front();
}

}  // namespace ooc::detail::product
