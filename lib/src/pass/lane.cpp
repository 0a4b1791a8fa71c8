#include "pass/lane.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device/nvtx_range.hpp"
#include "device/resident_memory.hpp"
#include "observe/stopwatch.hpp"

namespace ooc::detail {

Lane::Lane(Device& device, std::size_t index) : device_(device), index_(index) {}

void Lane::reserve(const LaneBuffers& buffers) {
  const bool is_host = device_.reads_host_memory();
  const auto keep = [is_host](Buffer& memory, std::size_t bytes) {
    // Host memory is shared with the pool, so a lane keeps no more of it than the pass needs.
    const std::size_t held = memory.size();
    if (is_host ? held != bytes : held < bytes) memory = Buffer();
    return bytes;
  };
  const auto want = [&keep](CopyBuffer& buffer, std::size_t bytes) {
    buffer.bytes = keep(buffer.memory, bytes);
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    want(inputs_[i], i < buffers.inputs ? buffers.step : 0);
  }
  input_buffers_ = buffers.inputs;
  for (CopyBuffer& result : results_) want(result, buffers.result);
  decoded_bytes_ = keep(decoded_, buffers.decoded);
}

void Lane::prepare(const Observe& observe) {
  if (!stream_) stream_ = device_.make_stream();
  reporter_.emplace(device_, observe);  // of this pass
  const auto make_ready = [this](CopyBuffer& buffer) {
    if (buffer.bytes > buffer.memory.size()) {
      buffer.memory = Buffer(device_.working_memory(), buffer.bytes);
    }
    if (buffer.copied) return;
    buffer.copy_begun = device_.make_event();
    buffer.copied = device_.make_event();
  };
  if (decoded_bytes_ > decoded_.size()) {
    decoded_ = Buffer(device_.working_memory(), decoded_bytes_);
  }
  for (Kernel& kernel : kernels_) {
    if (!kernel.begun) {
      kernel.begun = device_.make_event();
      kernel.ended = device_.make_event();
    }
    kernel.is_pending = false;  // a failed pass may have left one
  }
  std::ranges::for_each(inputs_, make_ready);
  std::ranges::for_each(results_, make_ready);
}

void Lane::release() {
  for (CopyBuffer& input : inputs_) input.memory = Buffer();
  for (CopyBuffer& result : results_) result.memory = Buffer();
  decoded_ = Buffer();
}

void Lane::run(const PassParts& pass) {
  times_ = {};
  records_.resize(pass.inputs.size());
  device_.bind_to_thread();
  try {
    pass.operation.begin(index_, *stream_);
    check_launches();
    consume(pass);
    pass.operation.end(index_, *stream_);
    check_launches();
    stream_->synchronize();
  } catch (...) {
    // Neither the pool nor memory of the operation may be freed while the device copies from or to
    // it.
    stream_->drain();
    throw;
  }
}

void Lane::consume(const PassParts& pass) {
  const std::unique_ptr<Sink> sink = make_sink(pass);
  const std::unique_ptr<Feed> feed = make_feed(pass, *sink);
  while (const std::optional<FedStep> step = feed->next()) {
    const StepResults out = sink->room(*step);
    Kernel& kernel = process(pass, *step, out);
    sink->commit(*step, out, *kernel.ended);
    if (device_.reads_host_memory()) take_in(kernel);  // the sink has waited for it
  }
  sink->flush();
  stream_->synchronize();
  for (Kernel& kernel : kernels_) take_in(kernel);
  times_.last_seconds = pass.watch.seconds();
}

std::unique_ptr<Feed> Lane::make_feed(const PassParts& pass, Sink& sink) {
  const auto flush = [&sink] { sink.flush(); };
  if (device_.reads_host_memory()) {
    return std::make_unique<HostFeed>(pass, index_, *stream_, times_.h2d, flush, inputs_[0].memory);
  }
  return std::make_unique<CopyFeed>(pass, index_, *stream_, times_.h2d, flush, inputs_,
                                    input_buffers_, *reporter_, times_.kernel);
}

std::unique_ptr<Sink> Lane::make_sink(const PassParts& pass) {
  if (device_.reads_host_memory()) return std::make_unique<HostSink>(pass);
  return std::make_unique<CopySink>(pass, index_, *stream_, results_, *reporter_, times_.d2h);
}

/// Enqueues the operator's work on a step. Returns its events.
Lane::Kernel& Lane::process(const PassParts& pass, const FedStep& step, const StepResults& out) {
  const NvtxRange range("operator", step.index);
  Kernel& kernel = kernels_[step.buffer];
  take_in(kernel);
  stream_->record(*kernel.begun);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!step.is_resident) pass.inputs[i].normalize(*stream_, step.inputs[i]);
    records_[i] = pass.inputs[i].decode(*stream_, step.inputs[i], decoded_.data());
    bytes += step.records.count * pass.inputs[i].record.bytes;
  }
  pass.operation.process(index_, *stream_,
                         {.index = step.index,
                          .first = pass.records_before + step.records.first,
                          .count = step.records.count,
                          .margin = step.margin,
                          .inputs = records_},
                         out);
  check_launches();
  for (std::size_t i = 0; i < out.outputs.size(); ++i) {
    const auto [data, size] = out.outputs[i];
    const std::size_t swapped = pass.outputs[i].swapped_bytes;
    if (swapped != 0) decoder_of(*stream_).swap_bytes(data, size, swapped);
  }
  stream_->record(*kernel.ended);
  kernel.is_pending = true;
  kernel.work = {
      .kind = TraceEvent::Kind::kernel, .worker = index_, .chunk = step.index, .bytes = bytes};
  if (step.is_resident) pass.resident->count_used(bytes);
  if (times_.steps++ == 0) times_.first_seconds = pass.watch.seconds();
  times_.records += step.records.count;
  times_.bytes += bytes;
  return kernel;
}

/// Throws if a kernel failed to launch. The result would lack its step, without any other error.
void Lane::check_launches() {
  stream_->check_launch("the operator's kernel");
}

/// Adds up and reports the device's time for a kernel that has ended.
void Lane::take_in(Kernel& kernel) {
  if (!std::exchange(kernel.is_pending, false)) return;
  kernel.ended->synchronize();  // has happened, unless the steps since then are resident
  times_.kernel.busy += kernel.ended->seconds_since(*kernel.begun);
  reporter_->report(kernel.work, *kernel.begun, *kernel.ended);
}

void prepare(std::span<const std::unique_ptr<Lane>> lanes, Device& device, const Observe& observe,
             std::size_t buffer_bytes) {
  try {
    for (const auto& lane : lanes) lane->prepare(observe);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || device.reads_host_memory()) throw;
    for (const auto& lane : lanes) lane->release();
    const MeteredMemory& memory = device.device_memory();
    const std::uint64_t allowed = memory.bytes_left();
    const bool is_limited = allowed < buffer_bytes;
    std::vector<Remedy> remedies{{RemedyAction::lower, "Options::chunk_bytes"},
                                 {RemedyAction::lower, "Options::streams"}};
    if (is_limited) {
      const std::string least = std::to_string(memory.bytes_in_use() + buffer_bytes);
      remedies.insert(remedies.begin(), {RemedyAction::raise, "Options::device_bytes", least});
    }
    throw NoRoom(
        ErrorKind::memory,
        "the buffers of " + std::to_string(lanes.size()) + " streams take " +
            std::to_string(buffer_bytes) + " bytes of device memory, of which " +
            (is_limited ? std::to_string(allowed) + " are allowed"
                        : std::to_string(device.available_bytes()) + " are free"),
        {.why = error.what(),
         .hint = is_limited ? "" : "free the memory that other programs hold (nvidia-smi shows it)",
         .remedies = std::move(remedies)});
  }
}

}  // namespace ooc::detail
