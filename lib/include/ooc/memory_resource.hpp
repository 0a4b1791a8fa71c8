#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <memory_resource>
#include <utility>

namespace ooc {

namespace detail {

/// A memory resource of CCCL 3.1 or later.
template <class Resource>
concept AllocatesSync = requires(Resource& resource, void* data, std::size_t size) {
  data = resource.allocate_sync(size, size);
  resource.deallocate_sync(data, size, size);
};

/// A memory resource of CCCL 3.0.
template <class Resource>
concept Allocates = requires(Resource& resource, void* data, std::size_t size) {
  data = resource.allocate(size, size);
  resource.deallocate(data, size, size);
};

}  // namespace detail

/// Makes a std::pmr::memory_resource of a memory resource of CCCL (`cuda::mr`), and so of RMM, for
/// CudaDeviceOptions::device_memory. Its memory must be of that GPU (`device_accessible`).
///
///     rmm::mr::cuda_async_memory_resource pool;
///     ooc::MemoryResourceAdaptor memory(pool);
///     ooc::Coordinator coordinator(ooc::make_cuda_device({.device_memory = &memory}));
///
/// Refers to a resource that is an lvalue, which must then outlive this, and keeps one that is an
/// rvalue, such as a `cuda::mr::resource_ref`. It uses the functions without a stream and includes
/// nothing of CCCL: any version will do, and so will any class with these functions. They are
/// called by several threads at once. Other exceptions than std::bad_alloc reach the caller of the
/// pass as they are.
template <class Resource>
requires detail::AllocatesSync<Resource> || detail::Allocates<Resource>
class MemoryResourceAdaptor final : public std::pmr::memory_resource {
 public:
  /// Takes a resource, or refers to it.
  explicit MemoryResourceAdaptor(Resource&& resource)
      : resource_(std::forward<Resource>(resource)) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if constexpr (detail::AllocatesSync<Resource>) {
      return resource_.allocate_sync(bytes, alignment);
    } else {
      return resource_.allocate(bytes, alignment);
    }
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if constexpr (detail::AllocatesSync<Resource>) {
      resource_.deallocate_sync(data, bytes, alignment);
    } else {
      resource_.deallocate(data, bytes, alignment);
    }
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same = dynamic_cast<const MemoryResourceAdaptor*>(&other);
    return same != nullptr && resource_ == same->resource_;
  }

  Resource resource_;  // a reference if `Resource` is one
};

/// An lvalue is referred to, an rvalue is kept.
template <class Resource>
MemoryResourceAdaptor(Resource&&) -> MemoryResourceAdaptor<Resource>;

}  // namespace ooc
