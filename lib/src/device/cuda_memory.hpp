#pragma once

#include <ooc/device.hpp>

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "device/cuda_calls.hpp"
#include "device/cuda_context.hpp"
#include "device/memory.hpp"

namespace ooc::detail {

/// Memory of the GPU that is bound to the calling thread.
class CudaMemory final : public MemoryResource {
 public:
  CudaMemory(const CudaContext& context, Calls& calls) : context_(context), calls_(calls) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  const CudaContext& context_;
  Calls& calls_;
};

/// Device memory of the program's own allocator, with the requirements that
/// CudaDeviceOptions::device_memory documents.
class GivenMemory final : public MemoryResource {
 public:
  GivenMemory(MemoryResource* upstream, const CudaContext& context, Calls& calls)
      : upstream_(upstream), context_(context), calls_(calls) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  MemoryResource* upstream_;
  const CudaContext& context_;
  Calls& calls_;
};

/// Page-locked memory, mapped in huge pages and then registered with CUDA. This takes a tenth of
/// the time of cudaHostAlloc, and io_uring can register the memory too, because it is anonymous.
/// Each block is registered in one piece, because a copy must not cross from one registration into
/// the next. Memory can be allocated, and read into, before CUDA has started; lock_early()
/// registers it later. Thread-safe.
class PinnedMemory final : public MemoryResource {
 public:
  PinnedMemory(const CudaContext& context, Calls& calls) : context_(context), calls_(calls) {}

  /// Registers the memory that was allocated before CUDA started. Throws Error; memory that is
  /// still unregistered then can be registered by another call, or freed.
  void lock_early();

  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  void lock_pages(void* data, std::size_t bytes);

  const CudaContext& context_;
  Calls& calls_;
  HugePageMemory pages_;
  std::mutex mutex_;
  bool started_ = false;
  std::vector<std::span<std::byte>> early_;  // not registered yet
};

}  // namespace ooc::detail
