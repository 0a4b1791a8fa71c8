#include "pass/feed.hpp"

#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/device/decoder.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"
#include "pass/inline_readers.hpp"

namespace ooc::detail {

namespace {

Margin margin_of(RecordRange records, RecordRange read) {
  return {records.first - read.first, read.end() - records.end()};
}

/// Returns the first segments, which have `bytes` bytes together.
std::span<const std::span<std::byte>> first_bytes(std::span<const std::span<std::byte>> segments,
                                                  std::size_t bytes) {
  std::size_t count = 0;
  for (std::size_t found = 0; found != bytes; ++count) {
    assert(count < segments.size() && found < bytes);  // an input ends where a segment does
    found += segments[count].size();
  }
  return segments.first(count);
}

}  // namespace

Feed::Feed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
           std::function<void()> before_waiting)
    : pass_(pass),
      lane_(lane),
      stream_(stream),
      h2d_(h2d),
      before_waiting_(std::move(before_waiting)) {
  for (auto& inputs : inputs_) inputs.resize(pass.inputs.size());
}

std::optional<std::size_t> Feed::draw() {
  const std::optional<std::size_t> step = pass_.tickets.draw();
  if (!step && pass_.tickets.end() < pass_.plan.steps()) pass_.pool.end_at(pass_.end_of_chunks());
  if (step && !pass_.plan.has(pass_.plan.first_piece(*step))) return std::nullopt;
  return step;
}

Chunk* Feed::wait_for_chunk(std::size_t index) {
  if (!pass_.pool.is_at(index, ChunkState::loaded)) before_waiting_();
  const NvtxRange range("wait for chunk", index);
  const Timed timed(h2d_.waits_in);
  Chunk* const chunk = pass_.pool.wait(index, ChunkState::loaded);
  assert(chunk != nullptr || pass_.is_produced);  // all steps that are drawn are read
  return chunk;
}

void Feed::add_to_checksum(const Chunk& chunk) {
  if (pass_.checksum == nullptr) return;
  const RecordRange records = pass_.plan.chunk(chunk.index);
  const std::uint64_t before = records.first - pass_.plan.chunk_read(chunk.index).first;
  const std::uint64_t record_bytes = pass_.plan.record_bytes(0);
  pass_.checksum->add(chunk, before * record_bytes, records.count * record_bytes);
}

void Feed::choose_places(std::size_t step, std::byte* buffer, std::span<std::byte*> places) const {
  if (pass_.resident_places(step, places)) return;
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = buffer + pass_.inputs[i].place;
}

std::size_t Feed::copy(const Chunk& chunk, std::size_t step, std::span<std::byte* const> places) {
  const RecordRange read = pass_.records_in(chunk);
  const std::uint64_t before = read.first - pass_.plan.step_read(step).first;
  std::size_t bytes = 0;
  std::span<const std::span<std::byte>> segments = chunk.segments;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t record_bytes = pass_.inputs[i].record.bytes;
    const auto pieces = first_bytes(segments, read.count * record_bytes);
    decoder_of(stream_).gather(places[i] + before * record_bytes, pieces);
    segments = segments.subspan(pieces.size());
    bytes += read.count * record_bytes;
  }
  return bytes;
}

FedStep Feed::describe(std::size_t step, RecordRange read, std::span<std::byte* const> places,
                       std::size_t buffer, Chunk* chunk) {
  const RecordRange records = pass_.is_produced ? read : pass_.plan.step(step);
  std::vector<DeviceSpan<std::byte>>& inputs = inputs_[buffer];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = {places[i], read.count * pass_.inputs[i].record.bytes};
  }
  return {.index = step,
          .records = records,
          .margin = margin_of(records, read),
          .inputs = inputs,
          .buffer = buffer,
          .is_resident = pass_.plan.is_resident(step),
          .chunk = chunk};
}

HostFeed::HostFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
                   std::function<void()> before_waiting, Buffer& gathered)
    : Feed(pass, lane, stream, h2d, std::move(before_waiting)),
      gathered_(gathered),
      places_(pass.inputs.size()) {}

std::optional<FedStep> HostFeed::next() {
  const std::optional<std::size_t> step = draw();
  if (!step) return std::nullopt;
  Chunk* const chunk = pass_.readers != nullptr
                           ? &pass_.readers->load(lane_ - pass_.lanes_before, *step)
                           : wait_for_chunk(*step);
  if (chunk == nullptr) return std::nullopt;
  // A chunk may be lent for as long as the borrower likes.
  if (pass_.readers == nullptr && pass_.operation.lending()) pass_.pool.end_turn(*chunk);
  add_to_checksum(*chunk);
  const RecordRange read = pass_.records_in(*chunk);
  if (!pass_.resident_places(*step, places_) && is_in_place(*chunk)) {
    std::ranges::transform(chunk->segments, places_.begin(), &std::span<std::byte>::data);
    return describe(*step, read, places_, 0, chunk);
  }
  choose_places(*step, gathered_.data(), places_);
  if (!pass_.plan.is_resident(*step)) copy(*chunk, *step, places_);
  return describe(*step, read, places_, 0, chunk);
}

/// True if a chunk can be used in its slot: each input is one piece of memory, and its records are
/// aligned.
bool HostFeed::is_in_place(const Chunk& chunk) const {
  if (chunk.segments.size() != pass_.inputs.size()) return false;
  for (std::size_t i = 0; i < chunk.segments.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(chunk.segments[i].data());
    if (address % pass_.inputs[i].record.alignment != 0) return false;
  }
  return true;
}

CopyFeed::CopyFeed(const PassParts& pass, std::size_t lane, Stream& stream, StageTimes& h2d,
                   std::function<void()> before_waiting, std::array<CopyBuffer, 2>& memory,
                   std::size_t buffers, EventReporter& reporter, StageTimes& kernel)
    : Feed(pass, lane, stream, h2d, std::move(before_waiting)),
      memory_(memory),
      buffers_(buffers),
      reporter_(reporter),
      kernel_(kernel) {
  for (Drawn& drawn : drawn_) {
    drawn.copying.reserve(pass.plan.pieces_per_step());
    drawn.places.resize(pass.inputs.size());
  }
}

bool CopyFeed::is_loaded(std::size_t step) const {
  return pass_.pool.is_at(pass_.plan.first_piece(step), ChunkState::loaded);
}

bool CopyFeed::draw_into(Drawn& drawn, CopyBuffer& buffer) {
  drawn.step = draw();
  if (!drawn.step) return false;
  choose_places(*drawn.step, buffer.memory.data(), drawn.places);
  drawn.is_resident = pass_.plan.is_resident(*drawn.step);
  drawn.next_piece = pass_.plan.first_piece(*drawn.step);
  drawn.bytes_enqueued = drawn.bytes_copied = 0;
  drawn.read = pass_.plan.step_read(*drawn.step);
  return true;
}

std::optional<FedStep> CopyFeed::next() {
  Drawn& drawn = drawn_[turn_];
  CopyBuffer& buffer = memory_[turn_];
  if (!drawn.step && !draw_into(drawn, buffer)) return std::nullopt;
  if (!fill(drawn, buffer)) return std::nullopt;
  Chunk* const chunk = drawn.copying.empty() ? nullptr : drawn.copying.front();
  if (buffers_ == 2) {
    copy_ahead();
    add_to_checksum(*chunk);  // while it is copied
  }
  finish_copies(drawn, buffer);
  const FedStep fed =
      describe(*drawn.step, drawn.read, drawn.places, turn_, pass_.writes() ? chunk : nullptr);
  drawn.step.reset();
  turn_ = (turn_ + 1) % buffers_;
  return fed;
}

/// Enqueues the copies of a step's pieces. They cannot overtake the work on the data that they
/// overwrite, because both are on one stream. Returns false if a producer has ended before the
/// step.
bool CopyFeed::fill(Drawn& drawn, CopyBuffer& buffer) {
  for (const std::size_t end = pass_.plan.end_piece(*drawn.step); drawn.next_piece < end;) {
    // The reader may need the slots of the pieces whose copies are enqueued.
    if (!pass_.pool.is_at(drawn.next_piece, ChunkState::loaded)) finish_copies(drawn, buffer);
    Chunk* const chunk = wait_for_chunk(drawn.next_piece);
    if (chunk == nullptr) return false;
    copy_piece(drawn, buffer, *chunk);
    if (buffers_ == 1) add_to_checksum(*chunk);
  }
  return true;
}

void CopyFeed::copy_piece(Drawn& drawn, CopyBuffer& buffer, Chunk& chunk) {
  if (!drawn.is_resident) {
    if (drawn.copying.empty()) stream_.record(*buffer.copy_begun);
    if (pass_.is_produced) drawn.read = pass_.records_in(chunk);
    drawn.bytes_enqueued += copy(chunk, *drawn.step, drawn.places);
    stream_.record(*buffer.copied);
  }
  drawn.copying.push_back(&chunk);
  ++drawn.next_piece;
}

/// Waits for the copies of a step, and gives the slots back unless they receive the result.
void CopyFeed::finish_copies(Drawn& drawn, CopyBuffer& buffer) {
  if (drawn.copying.empty()) return;
  if (!drawn.is_resident) wait_for_copies(drawn, buffer);
  if (!pass_.writes()) {
    for (const Chunk* chunk : drawn.copying) pass_.pool.recycle(*chunk);
  }
  drawn.copying.clear();
}

void CopyFeed::wait_for_copies(Drawn& drawn, CopyBuffer& buffer) {
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
}

/// Enqueues the copy of the next step before this thread blocks, so that the link is never idle. It
/// does so only if that step is loaded: a thread that waited for it while it holds the slot of this
/// step could wait for ever.
void CopyFeed::copy_ahead() {
  const std::size_t other = (turn_ + 1) % 2;
  Drawn& drawn = drawn_[other];
  if (!drawn.step) {
    const std::size_t next = pass_.tickets.next();
    if (next >= pass_.plan.steps() || !is_loaded(next) || !draw_into(drawn, memory_[other])) {
      return;
    }
  }
  if (is_loaded(*drawn.step)) fill(drawn, memory_[other]);
}

}  // namespace ooc::detail
