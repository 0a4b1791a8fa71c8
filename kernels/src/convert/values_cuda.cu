
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "convert/element.hpp"
#include "convert/values.hpp"

namespace ooc::conversion {
namespace {

using Counter = unsigned long long;  // the type that atomicAdd() takes
static_assert(sizeof(Counter) == sizeof(std::uint64_t));

constexpr std::size_t block_threads = 256;
// More than a GPU runs at a time; threads stride over the rest.
constexpr std::size_t most_blocks = 2048;

template <class From, class To>
__global__ void __launch_bounds__(block_threads)
    convert_elements(const From* __restrict__ in, To* __restrict__ out, std::size_t count,
                     Counter* inexact) {
  __shared__ Counter inexact_in_block;
  if (threadIdx.x == 0) inexact_in_block = 0;
  __syncthreads();

  Counter mine = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const From value = in[i];
    const To converted = convert<To>(value);
    out[i] = converted;
    if (!is_exact(value, converted)) ++mine;
  }
  if (mine != 0) atomicAdd(&inexact_in_block, mine);
  __syncthreads();

  if (threadIdx.x == 0 && inexact_in_block != 0 && inexact != nullptr) {
    atomicAdd(inexact, inexact_in_block);
  }
}

}  // namespace

void convert_values_cuda(Stream& stream, ElementType from, ElementType to, const std::byte* in,
                         std::byte* out, std::size_t count, std::uint64_t* inexact) {
  if (count == 0) return;
  const std::size_t needed = (count + block_threads - 1) / block_threads;
  const auto blocks = static_cast<unsigned>(std::min(needed, most_blocks));
  visit(from, [&]<class From>(std::type_identity<From>) {
    visit(to, [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_same_v<From, To>) {
        stream.copy(out, in, count * sizeof(From));
      } else {
        convert_elements<<<blocks, block_threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
            reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), count,
            reinterpret_cast<Counter*>(inexact));
      }
    });
  });
  stream.check_launch("the kernel of a conversion");
}

}  // namespace ooc::conversion
