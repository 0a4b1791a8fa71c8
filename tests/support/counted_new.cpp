#include "support/counted_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> calls{0};
thread_local std::uint64_t calls_of_thread = 0;
std::atomic<ooc::detail::test::Fault*> fault_of_new{nullptr};

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++calls;
  ++calls_of_thread;
  ooc::detail::test::Fault* const fault = fault_of_new;
  if (fault != nullptr && fault->strikes()) throw std::bad_alloc();
  void* const data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

std::uint64_t ooc::detail::test::count_of_new() noexcept {
  return calls;
}

std::uint64_t ooc::detail::test::count_of_new_by_this_thread() noexcept {
  return calls_of_thread;
}

ooc::detail::test::FailingNew::FailingNew(Fault& fault) noexcept {
  fault_of_new = &fault;
}

ooc::detail::test::FailingNew::~FailingNew() {
  fault_of_new = nullptr;
}

void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  std::free(data);
}
