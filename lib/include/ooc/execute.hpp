#pragma once

#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>
#include <ooc/records.hpp>

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/system/cpp/execution_policy.h>

#ifdef __CUDACC__
#include <thrust/system/cuda/execution_policy.h>
#include <cub/device/device_select.cuh>
#endif

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace ooc {

/// An allocator for Thrust that uses the temporaries of a stream, so that algorithms allocate
/// nothing during a pass.
class ThrustAllocator {
 public:
  using value_type = char;  ///< Thrust allocates bytes.

  /// The stream must outlive the allocator and what it has allocated.
  explicit ThrustAllocator(Stream& stream) : resource_(&stream.temporaries()) {}

  /// Allocates temporary memory, aligned to 256 bytes. Throws Error(memory) if there is none.
  char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(resource_->allocate(static_cast<std::size_t>(bytes), 256));
  }

  /// Frees the memory, which is reused in the order of the stream.
  void deallocate(char* data, std::size_t bytes) { resource_->deallocate(data, bytes, 256); }

 private:
  MemoryResource* resource_;
};

/// Calls `body(policy)` with the Thrust execution policy of a stream: `thrust::cpp::par` on the
/// CPU, `thrust::cuda::par_nosync(allocator).on(stream)` on a GPU. Throws Error(device) on a GPU if
/// the calling file was not compiled by nvcc, because it then contains no GPU code. The work is
/// enqueued; algorithms that return a value wait for it.
///
///     ooc::execute(stream, [&](auto policy) {
///       thrust::transform(policy, in.begin(), in.end(), out.begin(), Halve{});
///     });
template <class Body>
void execute(Stream& stream, Body&& body) {
  if (stream.kind() == DeviceKind::cpu) {
    std::forward<Body>(body)(thrust::cpp::par);
    return;
  }
#ifdef __CUDACC__
  ThrustAllocator allocator(stream);
  std::forward<Body>(body)(
      thrust::cuda::par_nosync(allocator).on(static_cast<cudaStream_t>(stream.native())));
#else
  throw Error(ErrorKind::device, "this operator was compiled for the CPU only",
              {.hint = "put it in a .cu file, so that nvcc compiles it for the GPU too"});
#endif
}

/// The work of a filter's select(): copies the elements of `in` for which `predicate(element)` is
/// true to the beginning of `out`, in their order, and sets `*kept`, which is device memory, to
/// their number. On a GPU, the calling file must be compiled by nvcc, because `predicate` runs
/// there; the work is enqueued, and nothing waits for it. Throws Error(device), also as execute().
///
///     ooc::keep_if(stream, in, out, kept, Above{threshold});  // in select()
template <class T, class Predicate>
void keep_if(Stream& stream, DeviceSpan<const T> in, DeviceSpan<T> out, std::uint64_t* kept,
             const Predicate& predicate) {
#ifdef __CUDACC__
  static_assert(
      std::is_trivially_copyable_v<Predicate>,
      "a predicate is copied to the GPU byte by byte: it has no pointers of its own, as a "
      "std::vector or std::function has");
  if (stream.kind() == DeviceKind::cuda) {
    std::size_t bytes = 0;
    const auto select = [&](void* memory) {
      return cub::DeviceSelect::If(memory, bytes, in.data, out.data, kept, in.size, predicate,
                                   static_cast<cudaStream_t>(stream.native()));
    };
    cudaError_t status = select(nullptr);  // queries the size of the memory that it needs
    if (status == cudaSuccess) {
      const Buffer memory(stream.temporaries(), bytes);
      status = select(memory.data());
    }
    if (status == cudaSuccess) return;
    throw Error(ErrorKind::device, std::string("keep_if: ") + cudaGetErrorString(status));
  }
#endif
  execute(stream, [&](auto policy) {
    const T* const begin = in.begin();
    T* const end = thrust::copy_if(policy, begin, in.end(), out.begin(), predicate);
    *kept = static_cast<std::uint64_t>(end - out.begin());
  });
}

/// Elements of rows are not rows: a filter of rows needs another way to keep them.
template <class T, class Predicate>
void keep_if(Stream&, DeviceRows<const T>, DeviceRows<T>, std::uint64_t*,
             const Predicate&) = delete;

}  // namespace ooc
