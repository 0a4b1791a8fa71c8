#include "reduce/exact_sum.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

// Each thread has its own limbs in shared memory, so that no addition waits for another thread's.
// The limbs of one thread are a whole row of threads apart, so the threads of a warp never access
// the same bank, whichever limbs they use. At the end a block adds up the limbs of its threads.

namespace ooc::detail::reduction {
namespace {

// The type that atomicAdd() takes; it wraps around, as limbs require.
using Counter = unsigned long long;
static_assert(sizeof(Counter) == sizeof(std::int64_t));

constexpr std::size_t block_elements = 8192;
constexpr unsigned warp_threads = 32;

/// Parameters of a thread block that adds floats or doubles.
template <class Wide>
struct Block {
  using Format = FloatFormat<Wide>;

  static constexpr unsigned threads = sizeof(Wide) == 8 ? 64 : 256;
  static constexpr unsigned significand_bits = Format::fraction_bits + 1;

  static constexpr unsigned first_limb = ReachedLimbs<Wide>::first;
  static constexpr unsigned limbs = ReachedLimbs<Wide>::count;
  static_assert(limbs * threads * sizeof(std::int64_t) <= 48 * KiB);

  using Limbs = std::int64_t[limbs][threads];
};

/// Adds a number to the limbs of this thread, unless it is NaN or infinite.
template <class Wide>
__device__ void add(typename Block<Wide>::Limbs& limbs, Wide value) {
  using Format = FloatFormat<Wide>;
  const auto bits = std::bit_cast<typename Format::Bits>(value);
  const auto exponent = static_cast<unsigned>(bits >> Format::fraction_bits) & Format::max_exponent;
  if (exponent == Format::max_exponent) return;
  const auto fraction = bits & (Format::implicit_one - 1);
  const bool negative = bits >> (8 * sizeof(bits) - 1) != 0;
  add_to_limbs<Block<Wide>::significand_bits>(
      [&limbs](unsigned i) -> std::int64_t& {
        return limbs[i - Block<Wide>::first_limb][threadIdx.x];
      },
      exponent == 0 ? fraction : fraction | Format::implicit_one, Format::position_of(exponent),
      negative);
}

template <class T, class Wide>
__global__ void __launch_bounds__(Block<Wide>::threads)
    add_exactly(const T* __restrict__ data, std::size_t count, Counter* total) {
  __shared__ typename Block<Wide>::Limbs limbs;
  for (auto& limb : limbs) limb[threadIdx.x] = 0;

  const std::size_t begin = blockIdx.x * block_elements;
  const std::size_t end = min(begin + block_elements, count);
#pragma unroll 4  // so that loads can overtake stores to shared memory
  for (std::size_t i = begin + threadIdx.x; i < end; i += Block<Wide>::threads) {
    add<Wide>(limbs, static_cast<Wide>(data[i]));
  }
  __syncthreads();

  // Warps take limbs in turn. All threads of a warp take part, as the shuffles require.
  const unsigned lane = threadIdx.x % warp_threads;
  for (unsigned i = threadIdx.x / warp_threads; i < Block<Wide>::limbs;
       i += Block<Wide>::threads / warp_threads) {
    std::int64_t sum = 0;
    for (unsigned j = lane; j < Block<Wide>::threads; j += warp_threads) sum += limbs[i][j];
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (lane == 0 && sum != 0) {
      atomicAdd(total + Block<Wide>::first_limb + i, static_cast<Counter>(sum));
    }
  }
}

}  // namespace

void add_exactly_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                      ExactSum& sum) {
  // The most that merge() takes at once, whatever the size of a chunk.
  constexpr std::size_t most_elements = std::size_t{1} << 30;
  for (; count > most_elements; count -= most_elements, data += most_elements * size_of(type)) {
    add_exactly_cuda(stream, type, data, most_elements, sum);
  }
  if (count == 0) return;
  ExactSum of_chunk;
  const Buffer on_device(stream.temporaries(), sizeof of_chunk.limbs);
  stream.fill_zero(on_device.data(), on_device.size());
  visit(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_floating<T>) {
      using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
      add_exactly<T, Wide><<<static_cast<unsigned>(divide_up(count, block_elements)),
                             Block<Wide>::threads, 0, static_cast<cudaStream_t>(stream.native())>>>(
          reinterpret_cast<const T*>(data), count, on_device.as<Counter>());
    }
  });
  stream.check_launch("the kernel of an exact sum");
  stream.copy(of_chunk.limbs.data(), on_device.data(), on_device.size());
  stream.synchronize();
  sum.merge(of_chunk);
}

}  // namespace ooc::detail::reduction
