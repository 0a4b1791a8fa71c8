#pragma once

#include <ooc/memory.hpp>

#include <cstddef>

namespace ooc::detail {

/// Anonymous memory in huge pages if the kernel provides them: fewer and longer segments for the
/// disk's DMA, cheaper page-locking, and fewer misses of address translation where it is read at
/// random. Blocks are aligned to 2 MiB and zeroed; intended for few, large blocks. Throws
/// Error(memory). Thread-safe.
class HugePageMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
};

}  // namespace ooc::detail
