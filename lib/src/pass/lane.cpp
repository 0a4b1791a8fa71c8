#include "pass/lane.hpp"

#include <ooc/detail/checksum/checksum.hpp>

#include <algorithm>
#include <utility>

#include "device/nvtx_range.hpp"
#include "sizing/layout.hpp"

namespace ooc {

namespace {

DeviceSpan<const std::byte> read_only(DeviceSpan<std::byte> data) {
  return {data.data, data.size};
}

/// The part of its slot where what is computed from a chunk belongs.
std::span<std::byte> output_of(const Pass& pass, const Chunk& chunk, std::size_t bytes) {
  return bytes == 0 ? std::span<std::byte>{} : chunk.memory.subspan(pass.output_place, bytes);
}

/// Makes that the chunk's payload.
void set_payload(Chunk& chunk, std::span<std::byte> output) {
  chunk.segments.clear();
  chunk.segments.push_back(output);
}

/// A chunk that can be used where it lies: in one piece, its elements aligned.
bool is_in_place(const Chunk& chunk, std::size_t element_bytes) {
  if (chunk.segments.size() != 1) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(chunk.segments.front().data());
  return address % alignment_of(element_bytes) == 0;
}

}  // namespace

Lane::Lane(Device& device, std::size_t index) : device_(device), index_(index) {}

void Lane::reserve(std::size_t chunk_bytes, bool gathers, std::size_t output_bytes) {
  const bool in_pool = device_.shares_host_memory();
  const auto want = [in_pool](CopyBuffer& buffer, std::size_t bytes) {
    buffer.bytes = bytes;
    // In memory that it shares with the pool, a lane keeps no more than the pass needs.
    const std::size_t held = buffer.memory.size();
    if (in_pool ? held != bytes : held < bytes) buffer.memory = Buffer();
  };
  want(inputs_[0], in_pool && !gathers ? 0 : chunk_bytes);
  if (in_pool) return;
  want(inputs_[1], chunk_bytes);
  for (Result& result : results_) want(result, output_bytes);
}

std::size_t Lane::buffer_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Input& input : inputs_) bytes += input.bytes;
  for (const Result& result : results_) bytes += result.bytes;
  return bytes;
}

void Lane::prepare(const Observe& observe) {
  if (!stream_) stream_ = device_.make_stream();
  reporter_.emplace(device_, observe);  // of this pass
  const auto make_ready = [this](CopyBuffer& buffer) {
    if (buffer.bytes > buffer.memory.size()) {
      buffer.memory = Buffer(device_.working_memory(), buffer.bytes);
    }
    if (!buffer.copied) {
      buffer.copy_begun = device_.make_event();
      buffer.copied = device_.make_event();
    }
    buffer.chunk = nullptr;  // a failed pass may have left one
  };
  for (Input& input : inputs_) {
    if (!input.kernel_begun) {
      input.kernel_begun = device_.make_event();
      input.kernel_ended = device_.make_event();
    }
    input.computing = false;
  }
  std::ranges::for_each(inputs_, make_ready);
  std::ranges::for_each(results_, make_ready);
}

void Lane::release() {
  for (Input& input : inputs_) input.memory = Buffer();
  for (Result& result : results_) result.memory = Buffer();
}

void Lane::run(const Pass& pass) {
  times_ = {};
  device_.bind_to_thread();
  try {
    pass.operation.begin(index_, *stream_);
    check_launches();
    device_.shares_host_memory() ? consume_in_pool(pass) : consume_copies(pass);
    pass.operation.end(index_, *stream_);
    check_launches();
    stream_->synchronize();
  } catch (...) {
    // Neither the pool nor what the operation holds may be freed while a copy of it is under way.
    stream_->drain();
    throw;
  }
}

void Lane::consume_in_pool(const Pass& pass) {
  if (pass.readers != nullptr) {
    while (Chunk* const chunk = pass.readers->load_next(index_)) consume(pass, *chunk);
    return;
  }
  for (std::size_t k = index_; k < pass.plan.size(); k += pass.lanes) {
    Chunk* const chunk = wait_for_chunk(pass, k);
    if (chunk == nullptr) return;
    const std::span<std::byte> out = consume(pass, *chunk);
    if (pass.output == nullptr) {
      pass.pool.recycle(*chunk);
    } else {
      set_payload(*chunk, out);
      pass.pool.publish(*chunk, ChunkState::computed);
    }
  }
}

/// Returns what was made of the chunk, in its slot, if that is to be written.
std::span<std::byte> Lane::consume(const Pass& pass, Chunk& chunk) {
  if (pass.checksum != nullptr) pass.checksum->add(chunk);
  DeviceSpan<std::byte> data{chunk.segments.front().data(), chunk.segments.front().size()};
  if (!is_in_place(chunk, pass.element_bytes)) {
    begin_copy(inputs_[0], chunk);
    data = {inputs_[0].memory.data(), pass.plan.bytes(chunk.index)};
  }
  const auto out = output_of(pass, chunk, pass.output_bytes(data.size));
  process(pass, inputs_[0], chunk.index, data, {out.data(), out.size()});
  take_in_kernel(inputs_[0]);
  return out;
}

void Lane::consume_copies(const Pass& pass) {
  std::size_t turn = 0;
  const auto input_of = [&](std::size_t ahead) -> Input& { return inputs_[(turn + ahead) % 2]; };
  for (std::size_t k = index_; k < pass.plan.size(); k += pass.lanes, ++turn) {
    Input& input = input_of(0);
    Result& result = results_[turn % 2];
    Result& result_before = results_[(turn + 1) % 2];
    if (input.chunk == nullptr) {
      // What is done must be on its way before this thread waits for what is to come: the slot that
      // it holds may be the one that the reader needs.
      if (!pass.pool.is_at(k, ChunkState::loaded)) finish_result(pass, result_before);
      Chunk* const chunk = wait_for_chunk(pass, k);
      if (chunk == nullptr) break;
      begin_copy(input, *chunk);
    }
    // The next copy is on its way before this thread blocks on anything, so that the link has no
    // gap, but only if that chunk is there: waiting for it while holding this one's slot could
    // wait for ever.
    const std::size_t next = k + pass.lanes;
    if (next < pass.plan.size() && pass.pool.is_at(next, ChunkState::loaded)) {
      begin_copy(input_of(1), *pass.pool.wait(next, ChunkState::loaded));
    }
    Chunk& chunk = *input.chunk;
    if (pass.checksum != nullptr) pass.checksum->add(chunk);  // while it is copied
    finish_copy(pass, input);
    const std::size_t bytes = pass.plan.bytes(k);
    const std::size_t result_bytes = pass.output_bytes(bytes);
    process(pass, input, k, {input.memory.data(), bytes}, {result.memory.data(), result_bytes});
    if (pass.output == nullptr) continue;
    begin_result(pass, result, chunk, result_bytes);
    finish_result(pass, result_before);
  }
  for (Result& result : results_) finish_result(pass, result);
  stream_->synchronize();
  for (Input& input : inputs_) take_in_kernel(input);
}

Chunk* Lane::wait_for_chunk(const Pass& pass, std::size_t index) {
  const NvtxRange range("wait for chunk", index);
  const Timed timed(times_.h2d.waits_in);
  return pass.pool.wait(index, ChunkState::loaded);
}

void Lane::begin_copy(Input& input, Chunk& chunk) {
  stream_->record(*input.copy_begun);
  std::byte* target = input.memory.data();
  for (const std::span<std::byte> segment : chunk.segments) {
    stream_->copy(target, segment.data(), segment.size());
    target += segment.size();
  }
  stream_->record(*input.copied);
  input.chunk = &chunk;
}

void Lane::finish_copy(const Pass& pass, Input& input) {
  const std::size_t chunk = input.chunk->index;
  {
    const NvtxRange range("h2d", chunk);
    const Timed timed(times_.kernel.waits_in);
    input.copied->synchronize();
  }
  times_.h2d.busy += input.copied->seconds_since(*input.copy_begun);
  reporter_->report(work_on(TraceEvent::Kind::h2d, chunk, pass.plan.bytes(chunk)),
                    *input.copy_begun, *input.copied);
  take_in_kernel(input);  // the one that read this buffer before, and so came before the copy
  if (pass.output == nullptr) pass.pool.recycle(*input.chunk);  // else its slot takes the result
  input.chunk = nullptr;
}

/// Sends what was computed from a chunk home, into the chunk's own slot.
void Lane::begin_result(const Pass& pass, Result& result, Chunk& chunk, std::size_t bytes) {
  const std::span<std::byte> target = output_of(pass, chunk, bytes);
  stream_->record(*result.copy_begun);
  stream_->copy(target.data(), result.memory.data(), bytes);
  stream_->record(*result.copied);
  set_payload(chunk, target);
  result.chunk = &chunk;
}

/// Waits until it is there, and hands it to the writer.
void Lane::finish_result(const Pass& pass, Result& result) {
  if (result.chunk == nullptr) return;
  const std::size_t chunk = result.chunk->index;
  {
    const NvtxRange range("d2h", chunk);
    const Timed timed(times_.d2h.waits_in);
    result.copied->synchronize();
  }
  times_.d2h.busy += result.copied->seconds_since(*result.copy_begun);
  reporter_->report(
      work_on(TraceEvent::Kind::d2h, chunk, pass.output_bytes(pass.plan.bytes(chunk))),
      *result.copy_begun, *result.copied);
  pass.pool.publish(*result.chunk, ChunkState::computed);
  result.chunk = nullptr;
}

void Lane::process(const Pass& pass, Input& input, std::size_t chunk, DeviceSpan<std::byte> data,
                   DeviceSpan<std::byte> out) {
  const NvtxRange range("operator", chunk);
  stream_->record(*input.kernel_begun);
  if (pass.swapped_bytes != 0) stream_->swap_bytes(data.data, data.size, pass.swapped_bytes);
  pass.operation.process(index_, *stream_, read_only(data), pass.plan.begin(chunk), out);
  check_launches();
  if (pass.output != nullptr && pass.output->swapped) {
    stream_->swap_bytes(out.data, out.size, pass.output->element_bytes);
  }
  stream_->record(*input.kernel_ended);
  input.computing = true;
  input.kernel = work_on(TraceEvent::Kind::kernel, chunk, data.size);
  if (times_.bytes == 0) times_.first_seconds = pass.watch.seconds();
  times_.bytes += data.size;
}

/// What a kernel that does not begin was to compute would be missing, and nobody would know.
void Lane::check_launches() {
  stream_->check_launch("the operator's kernel");
}

/// Takes in the device's time for a kernel that has ended.
void Lane::take_in_kernel(Input& input) {
  if (!std::exchange(input.computing, false)) return;
  times_.kernel.busy += input.kernel_ended->seconds_since(*input.kernel_begun);
  reporter_->report(input.kernel, *input.kernel_begun, *input.kernel_ended);
}

TraceEvent Lane::work_on(TraceEvent::Kind kind, std::size_t chunk, std::uint64_t bytes) const {
  return {.kind = kind, .worker = index_, .chunk = chunk, .bytes = bytes};
}

}  // namespace ooc
