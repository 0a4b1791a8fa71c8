#include "pass/feed.hpp"

#include <ooc/detail/checksum/checksum.hpp>

#include <cassert>
#include <utility>

#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"
#include "pass/inline_readers.hpp"
#include "sizing/layout.hpp"

namespace ooc {

namespace {

/// True if a chunk can be used in its slot: it is one piece of memory, and its elements are
/// aligned.
bool is_in_place(const Chunk& chunk, std::size_t element_bytes) {
  if (chunk.segments.size() != 1) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(chunk.segments.front().data());
  return address % alignment_of(element_bytes) == 0;
}

std::byte* copy_segments(Stream& stream, std::byte* target, const Chunk& chunk) {
  for (const std::span<std::byte> segment : chunk.segments) {
    stream.copy(target, segment.data(), segment.size());
    target += segment.size();
  }
  return target;
}

}  // namespace

Feed::Feed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
           std::function<void()> before_waiting)
    : pass_(pass),
      lane_(lane),
      stream_(stream),
      h2d_(h2d),
      before_waiting_(std::move(before_waiting)) {}

std::optional<std::size_t> Feed::draw() {
  const std::optional<std::size_t> step = pass_.tickets.draw();
  if (!step && pass_.tickets.end() < pass_.plan.steps()) pass_.pool.end_at(pass_.end_of_chunks());
  return step;
}

Chunk& Feed::wait_for_chunk(std::size_t index) {
  if (!pass_.pool.is_at(index, ChunkState::loaded)) before_waiting_();
  const NvtxRange range("wait for chunk", index);
  const Timed timed(h2d_.waits_in);
  Chunk* const chunk = pass_.pool.wait(index, ChunkState::loaded);
  assert(chunk != nullptr);  // all steps that are drawn are read
  return *chunk;
}

HostFeed::HostFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
                   std::function<void()> before_waiting, Buffer& gathered)
    : Feed(pass, lane, stream, h2d, std::move(before_waiting)), gathered_(gathered) {}

std::optional<FedStep> HostFeed::next() {
  const std::optional<std::size_t> step = draw();
  if (!step) return std::nullopt;
  Chunk& chunk =
      pass_.readers != nullptr ? pass_.readers->load(lane_, *step) : wait_for_chunk(*step);
  if (pass_.checksum != nullptr) pass_.checksum->add(chunk);
  const std::size_t bytes = pass_.plan.step_bytes(*step);
  DeviceSpan<std::byte> data{chunk.segments.front().data(), bytes};
  if (!is_in_place(chunk, pass_.element_bytes)) {
    copy_segments(stream_, gathered_.data(), chunk);
    data.data = gathered_.data();
  }
  return FedStep{*step, data, 0, &chunk};
}

CopyFeed::CopyFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
                   std::function<void()> before_waiting, std::array<CopyBuffer, 2>& buffers,
                   EventReporter& reporter, StageTimes& kernel)
    : Feed(pass, lane, stream, h2d, std::move(before_waiting)),
      memory_(buffers),
      reporter_(reporter),
      kernel_(kernel) {
  for (Drawn& drawn : drawn_) drawn.copying.reserve(pass.plan.pieces_per_step());
}

bool CopyFeed::is_loaded(std::size_t step) const {
  return pass_.pool.is_at(pass_.plan.first_piece(step), ChunkState::loaded);
}

bool CopyFeed::draw_into(Drawn& drawn) {
  drawn.step = draw();
  if (!drawn.step) return false;
  drawn.next_piece = pass_.plan.first_piece(*drawn.step);
  drawn.bytes_enqueued = drawn.bytes_copied = 0;
  return true;
}

std::optional<FedStep> CopyFeed::next() {
  Drawn& drawn = drawn_[turn_];
  CopyBuffer& buffer = memory_[turn_];
  if (!drawn.step && !draw_into(drawn)) return std::nullopt;
  fill(drawn, buffer);
  Chunk* const chunk = drawn.copying.empty() ? nullptr : drawn.copying.front();
  if (buffers() == 2) {
    copy_ahead();
    if (pass_.checksum != nullptr) pass_.checksum->add(*chunk);  // while it is copied
  }
  finish_copies(drawn, buffer);
  const FedStep fed{*drawn.step,
                    {buffer.memory.data(), pass_.plan.step_bytes(*drawn.step)},
                    turn_,
                    pass_.output == nullptr ? nullptr : chunk};
  drawn.step.reset();
  turn_ = (turn_ + 1) % buffers();
  return fed;
}

/// Enqueues the copies of a step's pieces. They cannot overtake the work on the data that they
/// overwrite, because both are on one stream.
void CopyFeed::fill(Drawn& drawn, CopyBuffer& buffer) {
  for (const std::size_t end = pass_.plan.first_piece(*drawn.step + 1); drawn.next_piece < end;) {
    // The reader may need the slots of the pieces whose copies are enqueued.
    if (!pass_.pool.is_at(drawn.next_piece, ChunkState::loaded)) finish_copies(drawn, buffer);
    Chunk& chunk = wait_for_chunk(drawn.next_piece);
    copy_piece(drawn, buffer, chunk);
    if (buffers() == 1 && pass_.checksum != nullptr) pass_.checksum->add(chunk);
  }
}

void CopyFeed::copy_piece(Drawn& drawn, CopyBuffer& buffer, Chunk& chunk) {
  if (drawn.copying.empty()) stream_.record(*buffer.copy_begun);
  std::byte* const target = buffer.memory.data() + drawn.bytes_enqueued;
  const std::byte* const end =
      copy_segments(stream_, buffer.memory.data() + drawn.bytes_enqueued, chunk);
  stream_.record(*buffer.copied);
  drawn.bytes_enqueued += static_cast<std::size_t>(end - target);
  drawn.copying.push_back(&chunk);
  ++drawn.next_piece;
}

/// Waits for the copies of a step, and gives the slots back unless they receive the result.
void CopyFeed::finish_copies(Drawn& drawn, CopyBuffer& buffer) {
  if (drawn.copying.empty()) return;
  {
    const NvtxRange range("h2d", *drawn.step);
    const Timed timed(kernel_.waits_in);
    buffer.copied->synchronize();
  }
  h2d_.busy += buffer.copied->seconds_since(*buffer.copy_begun);
  reporter_.report(
      {.kind = TraceEvent::Kind::h2d,
       .worker = lane_,
       .chunk = *drawn.step,
       .bytes = drawn.bytes_enqueued - std::exchange(drawn.bytes_copied, drawn.bytes_enqueued)},
      *buffer.copy_begun, *buffer.copied);
  if (pass_.output == nullptr) {
    for (const Chunk* chunk : drawn.copying) pass_.pool.recycle(*chunk);
  }
  drawn.copying.clear();
}

/// Enqueues the copy of the next step before this thread blocks, so that the link is never idle. It
/// does so only if that step is loaded: a thread that waited for it while it holds the slot of this
/// step could wait for ever.
void CopyFeed::copy_ahead() {
  const std::size_t other = (turn_ + 1) % 2;
  Drawn& drawn = drawn_[other];
  if (!drawn.step) {
    const std::size_t next = pass_.tickets.next();
    if (next >= pass_.plan.steps() || !is_loaded(next) || !draw_into(drawn)) return;
  }
  if (is_loaded(*drawn.step)) fill(drawn, memory_[other]);
}

}  // namespace ooc
