#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <memory_resource>
#include <utility>

namespace ooc {

/// A block of memory owned through a memory resource: page-locked, device or ordinary memory.
/// Movable, not copyable.
///
/// Lifetime: the resource must outlive the buffer, and so must the device or stream that owns the
/// resource. fold() destroys partials, and the buffers in them, before it returns. Buffers that an
/// operator's result() or merge() takes out of a partial must be destroyed before the coordinator.
///
/// Threads: make_partial() allocates the buffers of a partial. Only the thread of that stream may
/// use them until merge().
///
///     const ooc::Buffer sums(stream.temporaries(), columns * sizeof(double));
///     stream.fill_zero(sums.data(), sums.size());
///     add_up(sums.as<double>());
class Buffer {
 public:
  Buffer() = default;

  /// Allocates `bytes` bytes, aligned to 256. Throws as the resource does: Error(memory) if it is
  /// of a device.
  Buffer(std::pmr::memory_resource& resource, std::size_t bytes)
      : resource_(&resource), data_(resource.allocate(bytes, alignment)), bytes_(bytes) {}
  /// Takes the memory over; `other` is empty afterwards.
  Buffer(Buffer&& other) noexcept { swap(other); }
  /// Frees the memory and takes that of `other` over.
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) resource_->deallocate(data_, bytes_, alignment);
  }

  /// Returns the memory; null if there is none. Only device code may follow a pointer to the memory
  /// of a GPU.
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  /// Returns the size (bytes).
  std::size_t size() const noexcept { return bytes_; }

  /// Returns the memory as elements of T.
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  static constexpr std::size_t alignment = 256;

  void swap(Buffer& other) noexcept {
    std::swap(resource_, other.resource_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::pmr::memory_resource* resource_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ooc
