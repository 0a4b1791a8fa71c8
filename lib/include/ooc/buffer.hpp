#pragma once

#include <ooc/io/language.hpp>

#include <cstddef>
#include <memory_resource>
#include <utility>

namespace ooc {

/// Bytes owned through a memory resource: page-locked, device or plain. The resource must outlive
/// it, and so must the device or stream that the resource is part of. One in a Partial lives as
/// long as that: fold() destroys partials before it returns, but what an operator's result() or
/// merge() keeps of them is the caller's to destroy before the coordinator. Buffers in partials are
/// allocated once a stream, by make_partial(), and may be used by its thread alone until merge().
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::pmr::memory_resource& resource, std::size_t bytes)
      : resource_(&resource), data_(resource.allocate(bytes, alignment)), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) resource_->deallocate(data_, bytes_, alignment);
  }

  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  std::size_t size() const noexcept { return bytes_; }

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
