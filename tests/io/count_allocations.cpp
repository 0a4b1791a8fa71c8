#include "count_allocations.hpp"

#include <ooc/io/units.hpp>

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

std::size_t ooc::test::allocations_of_this_thread() {
  return allocations;
}

// The other forms of new and delete end in these.
void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto multiple = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(multiple, ooc::round_up(bytes, multiple));
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
