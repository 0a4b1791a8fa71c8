#pragma once

#include <ooc/detail/device/huge_page_memory.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <vector>

namespace ooc::detail {

/// A memory resource that reuses freed blocks for later allocations. This is safe without
/// synchronisation within one stream, whose work is in order: the next user's work runs after the
/// previous user's. Used by one thread.
class RecyclingMemory final : public MemoryResource {
 public:
  explicit RecyclingMemory(MemoryResource& upstream);
  ~RecyclingMemory() override;
  RecyclingMemory(const RecyclingMemory&) = delete;
  RecyclingMemory& operator=(const RecyclingMemory&) = delete;

  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  struct Block {
    void* data;
    std::size_t bytes;
    bool free;
  };

  MemoryResource& upstream_;
  std::vector<Block> blocks_;
};

}  // namespace ooc::detail
