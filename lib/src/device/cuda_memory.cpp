#include "device/cuda_memory.hpp"

#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <thread>

namespace ooc::detail {

namespace {

/// Writes to every page from several threads. The kernel clears pages on first access; otherwise
/// the registration would do that on one thread, holding the driver's lock.
void touch(std::byte* data, std::size_t bytes) {
  constexpr std::size_t most_threads = 8;
  constexpr std::size_t piece_bytes = 8 * MiB;  // worth starting a thread for
  std::atomic<std::size_t> next{0};
  const auto touch_pieces = [&] {
    for (;;) {
      const std::size_t begin = next.fetch_add(piece_bytes);
      const std::size_t end = std::min(begin + piece_bytes, bytes);
      if (begin >= end) return;
      for (std::size_t i = begin; i < end; i += page_bytes) data[i] = std::byte{};
    }
  };
  const std::size_t pieces = divide_up(bytes, piece_bytes);
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<std::jthread> workers;
  start_threads(workers, std::min({pieces, cores, most_threads}), touch_pieces);
}

}  // namespace

void* CudaMemory::allocate(std::size_t bytes, std::size_t /*alignment*/) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaSuccess) return data;
  calls_.fail(status, "allocating " + std::to_string(bytes) + " bytes of device memory");
}

void CudaMemory::deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  if (calls_.has_lost_gpu()) return;
  const CudaContext::Binding binding(context_);  // the thread may be one of the program's
  cudaFree(data);
}

void* GivenMemory::allocate(std::size_t bytes, std::size_t alignment) {
  const CudaContext::Binding binding(context_);
  void* data = nullptr;
  try {
    data = upstream_->allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory,
                "allocating " + std::to_string(bytes) + " bytes of device memory",
                {.why = "the memory resource that the program has given has no more",
                 .remedies = {{RemedyAction::lower, "Options::device_bytes"},
                              {RemedyAction::lower, "Options::chunk_bytes"}}});
  }
  // A pool may return memory that earlier work on the default stream, or on the thread's own, still
  // uses. Streams of the library do not wait for these, so this thread does.
  for (cudaStream_t stream : {cudaStreamLegacy, cudaStreamPerThread}) {
    const cudaError_t status = cudaStreamSynchronize(stream);
    if (status == cudaSuccess) continue;
    upstream_->deallocate(data, bytes, alignment);
    calls_.fail(status, "waiting for device memory that the program has given");
  }
  return data;
}

void GivenMemory::deallocate(void* data, std::size_t bytes, std::size_t alignment) {
  if (calls_.has_lost_gpu()) return;
  const CudaContext::Binding binding(context_);
  upstream_->deallocate(data, bytes, alignment);
}

void PinnedMemory::lock_early() {
  const std::scoped_lock lock(mutex_);
  started_ = true;
  for (; !early_.empty(); early_.pop_back()) {
    lock_pages(early_.back().data(), early_.back().size());
  }
}

void* PinnedMemory::allocate(std::size_t bytes, std::size_t alignment) {
  void* const data = pages_.allocate(bytes, alignment);
  try {
    touch(static_cast<std::byte*>(data), bytes);
    const std::scoped_lock lock(mutex_);
    if (started_) {
      lock_pages(data, bytes);
    } else {
      early_.emplace_back(static_cast<std::byte*>(data), bytes);
    }
  } catch (...) {
    pages_.deallocate(data, bytes, alignment);
    throw;
  }
  return data;
}

void PinnedMemory::deallocate(void* data, std::size_t bytes, std::size_t alignment) {
  {
    const std::scoped_lock lock(mutex_);
    const auto is_this = [data](std::span<std::byte> block) { return block.data() == data; };
    const bool is_early = std::erase_if(early_, is_this) != 0;
    if (!is_early && !calls_.has_lost_gpu()) {
      const CudaContext::Binding binding(context_);
      cudaHostUnregister(data);
    }
  }
  pages_.deallocate(data, bytes, alignment);
}

void PinnedMemory::lock_pages(void* data, std::size_t bytes) {
  const CudaContext::Binding binding(context_);  // the thread may be one of the program's
  // Mapped, so that kernels can read it (gather.cu).
  constexpr unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  const cudaError_t status = cudaHostRegister(data, bytes, flags);
  if (status == cudaSuccess) return;
  calls_.fail(
      status, "page-locking " + std::to_string(bytes) + " bytes of host memory",
      {.hint = "check `ulimit -l`", .remedies = {{RemedyAction::lower, "Options::memory_bytes"}}});
}

}  // namespace ooc::detail
