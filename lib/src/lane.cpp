#include "lane.hpp"

#include <algorithm>

namespace ooc {

namespace {

DeviceSpan<const std::byte> read_only(DeviceSpan<std::byte> data) {
  return {data.data, data.size};
}

/// A chunk that can be used where it lies: in one piece, its elements aligned.
bool is_in_place(const Chunk& chunk, std::size_t element_bytes) {
  return chunk.segments.size() == 1 &&
         reinterpret_cast<std::uintptr_t>(chunk.segments.front().data()) % element_bytes == 0;
}

}  // namespace

Lane::Lane(Device& device, std::size_t index)
    : device_(device), index_(index), stream_(device.make_stream()) {
  for (Input& input : inputs_) {
    input.copy_begun = device.make_event();
    input.copied = device.make_event();
  }
}

void Lane::reserve(std::size_t chunk_bytes, bool gathers) {
  const bool in_pool = device_.shares_host_memory();
  auto& memory = in_pool ? device_.host_memory() : device_.device_memory();
  const std::size_t buffers = !in_pool ? 2 : gathers ? 1 : 0;
  for (std::size_t i = 0; i < buffers; ++i) {
    if (inputs_[i].memory.size() >= chunk_bytes) continue;
    inputs_[i].memory = Buffer();  // given back first: both might not fit
    inputs_[i].memory = Buffer(memory, chunk_bytes);
  }
}

void Lane::run(const Pass& pass) {
  times_ = {};
  for (Input& input : inputs_) input.chunk = nullptr;  // a failed pass may have left one
  device_.bind_to_thread();
  pass.operation.begin(index_, *stream_);
  try {
    device_.shares_host_memory() ? consume_in_pool(pass) : consume_copies(pass);
  } catch (...) {
    // The pool must not be touched, let alone freed, while a copy out of it is under way.
    try {
      stream_->synchronize();
    } catch (...) {  // the device is gone; so are its copies
    }
    throw;
  }
  pass.operation.end(index_, *stream_);
  stream_->synchronize();
}

void Lane::consume_in_pool(const Pass& pass) {
  for (std::size_t k = index_; k < pass.plan.size(); k += pass.lanes) {
    Chunk* const chunk = wait_for_chunk(pass, k);
    if (chunk == nullptr) return;
    DeviceSpan<std::byte> data{chunk->segments.front().data(), chunk->segments.front().size()};
    if (!is_in_place(*chunk, pass.element_bytes)) {
      begin_copy(inputs_[0], *chunk);
      data = {inputs_[0].memory.data(), pass.plan.bytes(k)};
    }
    process(pass, k, data);
    pass.pool.recycle(*chunk);
  }
}

void Lane::consume_copies(const Pass& pass) {
  std::size_t turn = 0;
  const auto input_of = [&](std::size_t ahead) -> Input& { return inputs_[(turn + ahead) % 2]; };
  for (std::size_t k = index_; k < pass.plan.size(); k += pass.lanes, ++turn) {
    Input& input = input_of(0);
    if (input.chunk == nullptr) {
      Chunk* const chunk = wait_for_chunk(pass, k);
      if (chunk == nullptr) return;
      begin_copy(input, *chunk);
    }
    // The next copy is on its way before this thread blocks on anything, so that the link has no
    // gap, but only if that chunk is there: waiting for it while holding this one's slot could
    // wait for ever.
    const std::size_t next = k + pass.lanes;
    if (next < pass.plan.size() && pass.pool.ready(next, Stage::loaded)) {
      begin_copy(input_of(1), *pass.pool.wait(next, Stage::loaded));
    }
    finish_copy(pass, input);
    process(pass, k, {input.memory.data(), pass.plan.bytes(k)});
  }
}

Chunk* Lane::wait_for_chunk(const Pass& pass, std::size_t index) {
  const Timed timed(times_.h2d.waits_in);
  return pass.pool.wait(index, Stage::loaded);
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
  {
    const Timed timed(times_.kernel.waits_in);
    input.copied->synchronize();
  }
  times_.h2d.busy += input.copied->seconds_since(*input.copy_begun);
  pass.pool.recycle(*input.chunk);
  input.chunk = nullptr;
}

void Lane::process(const Pass& pass, std::size_t chunk, DeviceSpan<std::byte> data) {
  {
    const Timed timed(times_.kernel.busy);
    if (pass.swapped) stream_->swap_bytes(data.data, data.size, pass.element_bytes);
    pass.operation.process(index_, *stream_, read_only(data), pass.plan.begin(chunk));
  }
  if (times_.bytes == 0) times_.first_seconds = pass.watch.seconds();
  times_.bytes += data.size;
}

}  // namespace ooc
