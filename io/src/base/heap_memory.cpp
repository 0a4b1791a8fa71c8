#include <ooc/detail/base/heap_memory.hpp>

#include <new>

namespace ooc::detail {

namespace {

class HeapMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) override {
    return ::operator new (bytes, std::align_val_t{alignment});
  }
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    ::operator delete (data, bytes, std::align_val_t{alignment});
  }
};

}  // namespace

MemoryResource& heap_memory() noexcept {
  static HeapMemory memory;
  return memory;
}

}  // namespace ooc::detail
