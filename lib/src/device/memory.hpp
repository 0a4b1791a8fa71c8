#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

namespace ooc {

/// Anonymous memory in huge pages if the kernel provides them: fewer and longer segments for the
/// disk's DMA, and cheaper page-locking. Blocks are aligned to 2 MiB; intended for few, large
/// blocks. Throws Error(memory). Thread-safe.
class HugePageMemory final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;
};

/// A memory resource that reuses freed blocks for later allocations. This is safe without
/// synchronisation within one stream, whose work is in order: the next user's work runs after the
/// previous user's. Used by one thread.
class RecyclingMemory final : public std::pmr::memory_resource {
 public:
  explicit RecyclingMemory(std::pmr::memory_resource& upstream);
  ~RecyclingMemory() override;
  RecyclingMemory(const RecyclingMemory&) = delete;
  RecyclingMemory& operator=(const RecyclingMemory&) = delete;

 private:
  struct Block {
    void* data;
    std::size_t bytes;
    bool free;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  std::pmr::memory_resource& upstream_;
  std::vector<Block> blocks_;
};

}  // namespace ooc
