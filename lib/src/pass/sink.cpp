#include "pass/sink.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"
#include "pass/appender.hpp"

namespace ooc::detail {

std::size_t Sink::made_numbers() const {
  const std::size_t groups = pass_.operation.groups();
  return groups != 0 ? groups + 1 : pass_.outputs.size();
}

StepResults Sink::room_in(std::byte* memory, std::uint64_t records) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i] = {memory + pass_.places.outputs[i], records * pass_.outputs[i].record_bytes};
  }
  StepResults results{.outputs = outputs_};
  if (pass_.operation.selects()) {
    results.made = reinterpret_cast<std::uint64_t*>(memory + pass_.places.made);
  }
  return results;
}

/// Lays out the records of all outputs, which are in one room.
void Sink::lay_out_groups(const FedStep& step, const StepResults& results,
                          const std::uint64_t* made) {
  Chunk& chunk = *step.chunk;
  const std::size_t groups = pass_.operation.groups();
  pass_.appender->wait(chunk.index);  // so that the first record of all is refused
  if (made[groups] < step.records.count) {
    pass_.operation.refuse(pass_.records_before + step.records.first + made[groups]);
  }
  const std::byte* source = results.outputs.front().data;
  std::size_t place = pass_.places.in_slot;
  for (const Extent& extent :
       pass_.appender->append(chunk.index, {made, groups}, step.records.count)) {
    if (pass_.places.in_pages) {
      place = round_up(place, page_bytes) + extent.offset % page_bytes;
    }
    chunk.segments.push_back(chunk.memory.subspan(place, extent.bytes));
    moved_.push_back({chunk.segments.back(), source});
    source += extent.bytes;
    place += extent.bytes;
  }
}

std::span<const Sink::Moved> Sink::lay_out(const FedStep& step, const StepResults& results,
                                           const std::uint64_t* made) {
  Chunk& chunk = *step.chunk;
  chunk.segments.clear();
  moved_.clear();
  if (pass_.operation.groups() != 0) {
    lay_out_groups(step, results, made);
    return moved_;
  }
  const auto add = [&](std::size_t output, std::size_t shift, std::uint64_t bytes) {
    const std::size_t place = pass_.places.in_slot + pass_.places.outputs[output] + shift;
    chunk.segments.push_back(chunk.memory.subspan(place, bytes));
    moved_.push_back({chunk.segments.back(), results.outputs[output].data});
  };
  const std::size_t outputs = results.outputs.size();
  if (pass_.appender == nullptr) {
    for (std::size_t i = 0; i < outputs; ++i) add(i, 0, results.outputs[i].size);
    return moved_;
  }
  const std::uint64_t most = step.records.count;
  if (made == nullptr) {
    made_.assign(outputs, most);
    made = made_.data();
  }
  // Bytes lie as far from the beginning of a page as in their file, so that whole pages can be
  // written directly.
  for (const Extent& extent : pass_.appender->append(chunk.index, {made, outputs}, most)) {
    add(extent.input, extent.offset % page_bytes, extent.bytes);
  }
  return moved_;
}

StepResults HostSink::room(const FedStep& step) {
  if (!pass_.writes()) return {};
  const StepResults results =
      room_in(step.chunk->memory.data() + pass_.places.in_slot, step.records.count);
  if (results.made != nullptr) std::fill_n(results.made, made_numbers(), Appender::not_said);
  return results;
}

void HostSink::commit(const FedStep& step, const StepResults& results, Event& computed) {
  computed.synchronize();  // the operator reads the slot
  if (pass_.readers != nullptr) return;
  if (!pass_.writes()) {
    pass_.pool.recycle(*step.chunk);
    return;
  }
  // From the last one on, since results that share a room move apart.
  for (const auto& [target, source] : std::views::reverse(lay_out(step, results, results.made))) {
    if (target.data() != source) std::memmove(target.data(), source, target.size());
  }
  pass_.pool.publish(*step.chunk, ChunkState::computed);
}

CopySink::CopySink(const PassParts& pass, std::size_t lane, Stream& stream,
                   std::array<CopyBuffer, 2>& buffers, EventReporter& reporter, StageTimes& d2h)
    : Sink(pass), lane_(lane), stream_(stream), buffers_(buffers), reporter_(reporter), d2h_(d2h) {}

StepResults CopySink::room(const FedStep& step) {
  if (!pass_.writes()) return {};
  const StepResults results = room_in(buffers_[turn_].memory.data(), step.records.count);
  if (results.made != nullptr) {
    const std::span<std::uint64_t> made = made_in_slot(step);
    std::ranges::fill(made, Appender::not_said);
    stream_.copy(results.made, made.data(), made.size_bytes());
  }
  return results;
}

void CopySink::commit(const FedStep& step, const StepResults& results, Event& /*computed*/) {
  if (!pass_.writes()) return;  // the feed has given the slot back
  const CopyBuffer& buffer = buffers_[turn_];
  const std::uint64_t* const made = fetch_made(step, results);
  stream_.record(*buffer.copy_begun);
  std::size_t bytes = 0;
  for (const auto& [target, source] : lay_out(step, results, made)) {
    stream_.copy(target.data(), source, target.size());
    bytes += target.size();
  }
  stream_.record(*buffer.copied);
  copying_[turn_] = {step.chunk, bytes};
  turn_ = 1 - turn_;
  finish_copy(turn_);  // of the previous result
}

std::span<std::uint64_t> CopySink::made_in_slot(const FedStep& step) const {
  std::byte* const made = step.chunk->memory.data() + pass_.places.in_slot + pass_.places.made;
  return {reinterpret_cast<std::uint64_t*>(made), made_numbers()};
}

/// If the operation selects, brings the numbers of records to the slot and waits for them. Other
/// lanes wait for this one's turn, so the previous result, whose copy is through, is passed on
/// first.
const std::uint64_t* CopySink::fetch_made(const FedStep& step, const StepResults& results) {
  if (results.made == nullptr) return nullptr;
  const CopyBuffer& buffer = buffers_[turn_];
  const std::span<std::uint64_t> made = made_in_slot(step);
  stream_.copy(made.data(), results.made, made.size_bytes());
  stream_.record(*buffer.copied);
  finish_copy(1 - turn_);
  const NvtxRange range("wait for the number of records", step.index);
  const Timed timed(d2h_.waits_in);
  buffer.copied->synchronize();
  return made.data();
}

void CopySink::flush() {
  finish_copy(turn_);
  finish_copy(1 - turn_);
}

/// Waits until a result is in its slot, and passes it on to the writer.
void CopySink::finish_copy(std::size_t index) {
  const auto [copied, bytes] = std::exchange(copying_[index], {});
  if (copied == nullptr) return;
  const Chunk& chunk = *copied;
  const CopyBuffer& buffer = buffers_[index];
  {
    const NvtxRange range("d2h", chunk.index);
    const Timed timed(d2h_.waits_in);
    buffer.copied->synchronize();
  }
  d2h_.busy += buffer.copied->seconds_since(*buffer.copy_begun);
  reporter_.report(
      {.kind = TraceEvent::Kind::d2h, .worker = lane_, .chunk = chunk.index, .bytes = bytes},
      *buffer.copy_begun, *buffer.copied);
  pass_.pool.publish(chunk, ChunkState::computed);
}

}  // namespace ooc::detail
