
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "convert/element.hpp"
#include "convert/values.hpp"

namespace ooc::detail::conversion {
namespace {

using Counter = unsigned long long;  // the type that atomicAdd() takes
static_assert(sizeof(Counter) == sizeof(std::uint64_t));

constexpr std::size_t block_threads = 256;
// More blocks than a GPU runs at once; the threads stride over the remaining elements.
constexpr std::size_t most_blocks = 2048;

/// Losses, in the type that atomicAdd() takes.
struct Counters {
  Counter rounded = 0, overflowed = 0, clipped = 0;
};
static_assert(sizeof(Counters) == sizeof(Losses));

/// Adds those counters that are not 0. Most are 0.
__device__ void add(Counters& total, const Counters& more) {
  if (more.rounded != 0) atomicAdd(&total.rounded, more.rounded);
  if (more.overflowed != 0) atomicAdd(&total.overflowed, more.overflowed);
  if (more.clipped != 0) atomicAdd(&total.clipped, more.clipped);
}

template <class From, class To>
__global__ void __launch_bounds__(block_threads)
    convert_elements(const From* __restrict__ in, To* __restrict__ out, std::size_t count,
                     Beyond beyond, Counters* total) {
  __shared__ Counter in_block[sizeof(Counters) / sizeof(Counter)];
  Counters& of_block = *reinterpret_cast<Counters*>(in_block);
  if (threadIdx.x == 0) of_block = Counters{};
  __syncthreads();

  Counters mine;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const From value = in[i];
    To converted = convert<To>(value);
    if (!is_exact(value, converted)) {
      if (!is_beyond<To>(value)) {
        ++mine.rounded;
      } else if (beyond == Beyond::clip && is_clippable(value)) {
        converted = clipped(value, converted);
        ++mine.clipped;
      } else {
        ++mine.overflowed;
      }
    }
    out[i] = converted;
  }
  add(of_block, mine);
  __syncthreads();

  if (threadIdx.x == 0 && total != nullptr) add(*total, of_block);
}

}  // namespace

void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, Beyond beyond, Losses* losses) {
  if (count == 0) return;
  const std::size_t needed = (count + block_threads - 1) / block_threads;
  const auto blocks = static_cast<unsigned>(std::min(needed, most_blocks));
  visit(from, [&]<class From>(std::type_identity<From>) {
    visit(to, [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_same_v<From, To>) {
        stream.copy(out, in, count * sizeof(From));
      } else {
        convert_elements<<<blocks, block_threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
            reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), count, beyond,
            reinterpret_cast<Counters*>(losses));
      }
    });
  });
  stream.check_launch("the kernel of a conversion");
}

}  // namespace ooc::detail::conversion
