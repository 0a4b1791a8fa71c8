#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <cstddef>
#include <utility>

namespace ooc {

/// Allocates memory of a device, or host memory for copies to one. It is not derived from
/// std::pmr::memory_resource, so that no container of the host gets GPU memory by mistake.
class OOC_API MemoryResource {
 public:
  virtual ~MemoryResource() = default;

  /// Returns `bytes` bytes, aligned to `alignment`, a power of two. If there is not enough memory,
  /// throws Error(memory) or, if the program supplies the resource, std::bad_alloc.
  virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;

  /// Frees memory that allocate() returned for the same `bytes` and `alignment`. Must not throw.
  virtual void deallocate(void* data, std::size_t bytes, std::size_t alignment) = 0;
};

/// A block of memory owned through a memory resource: page-locked, device or ordinary memory.
/// Movable, not copyable.
///
/// Lifetime: the resource must outlive the buffer, and so must the device or stream that owns the
/// resource. fold() destroys partials, and the buffers in them, before it returns. Buffers that an
/// operator's result() or merge() takes out of a partial must be destroyed before the coordinator.
///
/// Threads: make_partial() allocates the buffers of a partial. Until merge(), only the thread of
/// the stream that make_partial() was given may use them.
///
///     const ooc::Buffer sums(stream.temporaries(), columns * sizeof(double));
///     stream.fill_zero(sums.data(), sums.size());
///     add_up(sums.as<double>());
class Buffer {
 public:
  Buffer() = default;

  /// Allocates `bytes` bytes, aligned to 256. Throws as the resource does: Error(memory) for memory
  /// of a device.
  Buffer(MemoryResource& resource, std::size_t bytes)
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

  MemoryResource* resource_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

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

/// Adapts a memory resource of CCCL (`cuda::mr`), and so of RMM, to MemoryResource, for
/// CudaDeviceOptions::device_memory. Its memory must be on that GPU (`device_accessible`).
///
///     rmm::mr::cuda_async_memory_resource pool;
///     ooc::MemoryResourceAdaptor memory(pool);
///     ooc::Coordinator coordinator(ooc::make_cuda_device({.device_memory = &memory}));
///
/// An lvalue is referred to and must outlive the adaptor; an rvalue, such as a
/// `cuda::mr::resource_ref`, is stored. The adaptor calls the functions without a stream and
/// includes no header of CCCL, so it works with every version, and with any class that has these
/// functions. Several threads call them at once. Exceptions other than std::bad_alloc reach the
/// caller of the pass unchanged.
template <class Resource>
requires detail::AllocatesSync<Resource> || detail::Allocates<Resource>
class MemoryResourceAdaptor final : public MemoryResource {
 public:
  /// Stores an rvalue, or refers to an lvalue.
  explicit MemoryResourceAdaptor(Resource&& resource)
      : resource_(std::forward<Resource>(resource)) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override {
    if constexpr (detail::AllocatesSync<Resource>) {
      return resource_.allocate_sync(bytes, alignment);
    } else {
      return resource_.allocate(bytes, alignment);
    }
  }
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if constexpr (detail::AllocatesSync<Resource>) {
      resource_.deallocate_sync(data, bytes, alignment);
    } else {
      resource_.deallocate(data, bytes, alignment);
    }
  }

 private:
  Resource resource_;  // a reference if `Resource` is one
};

/// An lvalue is referred to, an rvalue is kept.
template <class Resource>
MemoryResourceAdaptor(Resource&&) -> MemoryResourceAdaptor<Resource>;

/// Host memory that an operation takes beside the chunks, which counts towards
/// Options::memory_bytes (bytes).
struct HostBytes {
  std::size_t fixed = 0;     ///< however many streams there are
  std::size_t per_lane = 0;  ///< for each stream
};

}  // namespace ooc
