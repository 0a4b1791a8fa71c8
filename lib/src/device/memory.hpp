#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

namespace ooc {

/// Anonymous memory in huge pages where the kernel has them: fewer and longer segments for the
/// disk's DMA, and cheap to page-lock. Blocks are aligned to 2 MiB; meant for few, large ones.
class HugePageMemory final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;
};

/// Keeps what is given back and hands it out again. In the order of one stream's work that is
/// safe without waiting, since the next user's work comes after the last one's. One thread.
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
