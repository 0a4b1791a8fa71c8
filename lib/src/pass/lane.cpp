#include "pass/lane.hpp"

#include <algorithm>
#include <utility>

#include "device/nvtx_range.hpp"
#include "observe/stopwatch.hpp"

namespace ooc {

namespace {

DeviceSpan<const std::byte> read_only(DeviceSpan<std::byte> data) {
  return {data.data, data.size};
}

/// Makes a part of its slot the payload of a chunk.
void set_payload(Chunk& chunk, std::span<std::byte> output) {
  chunk.segments.clear();
  chunk.segments.push_back(output);
}

}  // namespace

Lane::Lane(Device& device, std::size_t index) : device_(device), index_(index) {}

void Lane::reserve(const LaneBuffers& buffers) {
  const bool is_host = device_.reads_host_memory();
  const auto want = [is_host](auto& buffer, std::size_t bytes) {
    buffer.bytes = bytes;
    // In memory that it shares with the pool, a lane keeps no more than the pass needs.
    const std::size_t held = buffer.memory.size();
    if (is_host ? held != bytes : held < bytes) buffer.memory = Buffer();
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    want(inputs_[i], i < buffers.inputs ? buffers.step : 0);
  }
  for (Result& result : results_) want(result, buffers.result);
}

void Lane::prepare(const Observe& observe) {
  if (!stream_) stream_ = device_.make_stream();
  reporter_.emplace(device_, observe);  // of this pass
  const auto make_ready = [this](auto& buffer) {
    if (buffer.bytes > buffer.memory.size()) {
      buffer.memory = Buffer(device_.working_memory(), buffer.bytes);
    }
    if (buffer.copied) return;
    buffer.copy_begun = device_.make_event();
    buffer.copied = device_.make_event();
  };
  for (Kernel& kernel : kernels_) {
    if (!kernel.begun) {
      kernel.begun = device_.make_event();
      kernel.ended = device_.make_event();
    }
    kernel.is_pending = false;  // a pass that failed may have left one
  }
  std::ranges::for_each(inputs_, make_ready);
  std::ranges::for_each(results_, make_ready);
  for (Result& result : results_) result.chunk = nullptr;
  next_result_ = 0;
}

void Lane::release() {
  for (InputBuffer& input : inputs_) input.memory = Buffer();
  for (Result& result : results_) result.memory = Buffer();
}

void Lane::run(const PassParts& pass) {
  times_ = {};
  device_.bind_to_thread();
  try {
    pass.operation.begin(index_, *stream_);
    check_launches();
    consume(pass);
    pass.operation.end(index_, *stream_);
    check_launches();
    stream_->synchronize();
  } catch (...) {
    // Neither the pool nor what the operation holds may be freed while a copy of it is under way.
    stream_->drain();
    throw;
  }
}

void Lane::consume(const PassParts& pass) {
  const std::unique_ptr<Feed> feed = make_feed(pass);
  for (;;) {
    // The reader may need the slots that take these results before it can read the next step.
    if (!feed->is_ready()) finish_results(pass);
    const std::optional<FedStep> step = feed->next();
    if (!step) break;
    const DeviceSpan<std::byte> out = room_for_result(pass, *step);
    process(pass, *step, out);
    pass_on(pass, *step, out);
  }
  finish_results(pass);
  stream_->synchronize();
  for (Kernel& kernel : kernels_) take_in(kernel);
}

std::unique_ptr<Feed> Lane::make_feed(const PassParts& pass) {
  if (device_.reads_host_memory()) {
    return std::make_unique<HostFeed>(pass, index_, *stream_, inputs_[0].memory, times_.h2d);
  }
  return std::make_unique<CopyFeed>(pass, index_, *stream_, inputs_, *reporter_, times_.h2d,
                                    times_.kernel);
}

/// Memory that the operator writes to: on devices that read host memory, the part of the step's
/// slot from which the writer takes it.
DeviceSpan<std::byte> Lane::room_for_result(const PassParts& pass, const FedStep& step) {
  if (pass.output == nullptr) return {};
  const std::size_t bytes = pass.output_bytes(step.data.size);
  if (!device_.reads_host_memory()) return {results_[next_result_].memory.data(), bytes};
  return {step.chunk->memory.subspan(pass.output_place, bytes).data(), bytes};
}

void Lane::process(const PassParts& pass, const FedStep& step, DeviceSpan<std::byte> out) {
  const NvtxRange range("operator", step.index);
  const DeviceSpan<std::byte> data = step.data;
  Kernel& kernel = kernels_[step.buffer];
  take_in(kernel);  // it ended before this step's copy into the same buffer began
  stream_->record(*kernel.begun);
  if (pass.swapped_bytes != 0) stream_->swap_bytes(data.data, data.size, pass.swapped_bytes);
  pass.operation.process(index_, *stream_, read_only(data), pass.plan.step_begin(step.index), out);
  check_launches();
  if (pass.output != nullptr && pass.output->swapped) {
    stream_->swap_bytes(out.data, out.size, pass.output->element_bytes);
  }
  stream_->record(*kernel.ended);
  kernel.is_pending = true;
  kernel.work = work_on(TraceEvent::Kind::kernel, step.index, data.size);
  if (times_.bytes == 0) times_.first_seconds = pass.watch.seconds();
  times_.bytes += data.size;
}

/// Gives the step's slot back, or its result to the writer.
void Lane::pass_on(const PassParts& pass, const FedStep& step, DeviceSpan<std::byte> out) {
  if (!device_.reads_host_memory()) {
    if (pass.output != nullptr) copy_result(pass, step, out);
    return;
  }
  kernels_[step.buffer].ended->synchronize();  // it reads the slot
  take_in(kernels_[step.buffer]);
  if (pass.readers != nullptr) return;
  if (pass.output == nullptr) {
    pass.pool.recycle(*step.chunk);
    return;
  }
  set_payload(*step.chunk, {out.data, out.size});
  pass.pool.publish(*step.chunk, ChunkState::computed);
}

/// Copies a result to the host, into the slot that its input came in.
void Lane::copy_result(const PassParts& pass, const FedStep& step, DeviceSpan<std::byte> out) {
  Result& result = results_[next_result_];
  next_result_ = (next_result_ + 1) % results_.size();
  const std::span<std::byte> target = step.chunk->memory.subspan(pass.output_place, out.size);
  stream_->record(*result.copy_begun);
  stream_->copy(target.data(), out.data, out.size);
  stream_->record(*result.copied);
  set_payload(*step.chunk, target);
  result.chunk = step.chunk;
  result.step = step.index;
  finish_result(pass, results_[next_result_]);  // the one before
}

/// Waits until a result is in its slot, and passes it on to the writer.
void Lane::finish_result(const PassParts& pass, Result& result) {
  if (result.chunk == nullptr) return;
  {
    const NvtxRange range("d2h", result.step);
    const Timed timed(times_.d2h.waits_in);
    result.copied->synchronize();
  }
  times_.d2h.busy += result.copied->seconds_since(*result.copy_begun);
  reporter_->report(
      work_on(TraceEvent::Kind::d2h, result.step, result.chunk->segments.front().size()),
      *result.copy_begun, *result.copied);
  pass.pool.publish(*std::exchange(result.chunk, nullptr), ChunkState::computed);
}

/// In the order of their steps.
void Lane::finish_results(const PassParts& pass) {
  finish_result(pass, results_[next_result_]);
  finish_result(pass, results_[(next_result_ + 1) % results_.size()]);
}

/// A kernel that did not begin would leave its part out of the answer, without any other error.
void Lane::check_launches() {
  stream_->check_launch("the operator's kernel");
}

/// Takes in the device's time for a kernel that has ended.
void Lane::take_in(Kernel& kernel) {
  if (!std::exchange(kernel.is_pending, false)) return;
  times_.kernel.busy += kernel.ended->seconds_since(*kernel.begun);
  reporter_->report(kernel.work, *kernel.begun, *kernel.ended);
}

TraceEvent Lane::work_on(TraceEvent::Kind kind, std::size_t step, std::uint64_t bytes) const {
  return {.kind = kind, .worker = index_, .chunk = step, .bytes = bytes};
}

}  // namespace ooc
