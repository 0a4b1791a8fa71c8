#include "pass/sink.hpp"

#include <span>
#include <utility>

#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"

namespace ooc {

namespace {

/// Makes `result`, a part of the slot of a chunk, the payload of the chunk.
void set_payload(Chunk& chunk, std::span<std::byte> result) {
  chunk.segments.clear();
  chunk.segments.push_back(result);
}

}  // namespace

DeviceSpan<std::byte> HostSink::room(const FedStep& step) {
  if (pass_.output == nullptr) return {};
  const std::size_t bytes = pass_.output_bytes(step.records.count);
  return {step.chunk->memory.subspan(pass_.output_place, bytes).data(), bytes};
}

void HostSink::commit(const FedStep& step, DeviceSpan<std::byte> result, Event& computed) {
  computed.synchronize();  // the operator reads the slot
  if (pass_.readers != nullptr) return;
  if (pass_.output == nullptr) {
    pass_.pool.recycle(*step.chunk);
    return;
  }
  set_payload(*step.chunk, {result.data, result.size});
  pass_.pool.publish(*step.chunk, ChunkState::computed);
}

CopySink::CopySink(const PassParts& pass, std::size_t lane, Stream& stream,
                   std::array<CopyBuffer, 2>& buffers, EventReporter& reporter, StageTimes& d2h)
    : pass_(pass),
      lane_(lane),
      stream_(stream),
      buffers_(buffers),
      reporter_(reporter),
      d2h_(d2h) {}

DeviceSpan<std::byte> CopySink::room(const FedStep& step) {
  if (pass_.output == nullptr) return {};
  return {buffers_[turn_].memory.data(), pass_.output_bytes(step.records.count)};
}

void CopySink::commit(const FedStep& step, DeviceSpan<std::byte> result, Event& /*computed*/) {
  if (pass_.output == nullptr) return;  // the feed has given the slot back
  const CopyBuffer& buffer = buffers_[turn_];
  const std::span<std::byte> target = step.chunk->memory.subspan(pass_.output_place, result.size);
  stream_.record(*buffer.copy_begun);
  stream_.copy(target.data(), result.data, result.size);
  stream_.record(*buffer.copied);
  set_payload(*step.chunk, target);
  copying_[turn_] = step.chunk;
  turn_ = 1 - turn_;
  finish_copy(turn_);  // of the previous result
}

void CopySink::flush() {
  finish_copy(turn_);
  finish_copy(1 - turn_);
}

/// Waits until a result is in its slot, and passes it on to the writer.
void CopySink::finish_copy(std::size_t index) {
  if (copying_[index] == nullptr) return;
  const Chunk& chunk = *std::exchange(copying_[index], nullptr);
  const CopyBuffer& buffer = buffers_[index];
  {
    const NvtxRange range("d2h", chunk.index);
    const Timed timed(d2h_.waits_in);
    buffer.copied->synchronize();
  }
  d2h_.busy += buffer.copied->seconds_since(*buffer.copy_begun);
  reporter_.report({.kind = TraceEvent::Kind::d2h,
                    .worker = lane_,
                    .chunk = chunk.index,
                    .bytes = chunk.segments.front().size()},
                   *buffer.copy_begun, *buffer.copied);
  pass_.pool.publish(chunk, ChunkState::computed);
}

}  // namespace ooc
