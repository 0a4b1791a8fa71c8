#include "allocated_bytes.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> bytes_so_far{0};

}  // namespace

std::uint64_t ooc::detail::fuzz::allocated_bytes() noexcept {
  return bytes_so_far;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  bytes_so_far += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  void* const data = operator new(bytes, std::nothrow);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept {
  std::free(data);
}
void operator delete(void* data, std::size_t) noexcept {
  std::free(data);
}
