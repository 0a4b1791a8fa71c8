#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "weighted_histogram/weights.hpp"

namespace ooc::detail::weighing {

namespace {

// The type that atomicAdd() takes; it wraps around, as limbs require.
using Counter = unsigned long long;
static_assert(sizeof(Counter) == sizeof(std::int64_t));

constexpr unsigned block_threads = 256;
constexpr std::size_t thread_weights = 16;  // the limbs of a block are emptied once for so many
constexpr std::size_t most_blocks = 1024;   // a few for each multiprocessor of any GPU

/// Size of the limbs that a block keeps in shared memory: as much as needs no request.
constexpr std::size_t shared_bytes = std::size_t{48} << 10;

/// Adds up the digits of weights that go to the same limbs, one after the other, so that threads do
/// not contend for these limbs if the data are constant.
template <unsigned count>
class Run {
 public:
  /// Adds digits from limb `place` on. The limbs are in shared or global memory.
  __device__ void add(Counter* limbs, unsigned place, const std::int64_t* digits) {
    if (place != place_) {
      empty(limbs);
      place_ = place;
    }
    for (unsigned i = 0; i < count; ++i) sums_[i] += digits[i];
  }

  __device__ void empty(Counter* limbs) {
    for (unsigned i = 0; i < count; ++i) {
      if (sums_[i] != 0) atomicAdd(limbs + place_ + i, static_cast<Counter>(sums_[i]));
      sums_[i] = 0;
    }
  }

 private:
  unsigned place_ = 0;
  std::int64_t sums_[count] = {};
};

/// Adds the weights that are this thread's to limbs in shared or global memory.
template <class T>
__device__ void add_own(const std::uint32_t* numbers, const T* weights, std::size_t count,
                        Counter* limbs, unsigned* kinds) {
  Run<WeightFormat<T>::digits> run;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    const T weight = weights[i];
    const auto found = digits_of(weight);
    run.add(limbs, numbers[i] * WeightFormat<T>::limbs + found.first, found.digits);
    if (!is_finite(weight)) atomicOr(kinds + numbers[i], non_finite(weight));
  }
  run.empty(limbs);
}

/// Adds in shared memory, then to `totals`, of so many limbs.
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_in_blocks(const std::uint32_t* numbers, const T* weights, std::size_t count,
                  unsigned limb_count, Counter* totals, unsigned* kinds) {
  extern __shared__ Counter limbs[];
  for (unsigned i = threadIdx.x; i < limb_count; i += blockDim.x) limbs[i] = 0;
  __syncthreads();
  add_own(numbers, weights, count, limbs, kinds);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < limb_count; i += blockDim.x) {
    if (limbs[i] != 0) atomicAdd(totals + i, limbs[i]);
  }
}

/// Adds in global memory, for more limbs than fit shared memory.
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_in_device(const std::uint32_t* numbers, const T* weights, std::size_t count,
                  Counter* totals, unsigned* kinds) {
  add_own(numbers, weights, count, totals, kinds);
}

/// Carries each of `sums` sums of `each` limbs.
__global__ void __launch_bounds__(block_threads)
    carry_all(std::int64_t* limbs, std::size_t each, std::size_t sums) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < sums) reduction::carry_limbs(limbs + i * each, each);
}

template <class T>
class CudaWeightAdder final : public WeightAdder {
 public:
  CudaWeightAdder(std::size_t counters, Stream& stream)
      : counters_(counters),
        limbs_(stream.temporaries(), counters * WeightFormat<T>::limbs * sizeof(Counter)),
        kinds_(stream.temporaries(), counters * sizeof(unsigned)) {
    stream.fill_zero(limbs_.data(), limbs_.size());
    stream.fill_zero(kinds_.data(), kinds_.size());
  }

  void add(Stream& stream, const std::uint32_t* numbers,
           DeviceSpan<const std::byte> data) override {
    const std::size_t count = data.size / sizeof(T);
    if (count == 0) return;
    if (count > weights_between_carries - added_) carry(stream);
    added_ += count;
    const T* const weights = reinterpret_cast<const T*>(data.data);
    constexpr std::size_t block_weights = block_threads * thread_weights;
    const auto blocks =
        static_cast<unsigned>(std::min((count + block_weights - 1) / block_weights, most_blocks));
    const auto native = static_cast<cudaStream_t>(stream.native());
    if (limbs_.size() <= shared_bytes) {
      add_in_blocks<T><<<blocks, block_threads, limbs_.size(), native>>>(
          numbers, weights, count, static_cast<unsigned>(limbs_.size() / sizeof(Counter)),
          limbs_.as<Counter>(), kinds_.as<unsigned>());
    } else {
      add_in_device<T><<<blocks, block_threads, 0, native>>>(
          numbers, weights, count, limbs_.as<Counter>(), kinds_.as<unsigned>());
    }
    stream.check_launch("the kernel that adds weights");
  }

  BinSums take(Stream& stream) override {
    carry(stream);
    BinSums sums{std::vector<std::int64_t>(counters_ * WeightFormat<T>::limbs),
                 std::vector<std::uint32_t>(counters_)};
    stream.copy(sums.limbs.data(), limbs_.data(), limbs_.size());
    stream.copy(sums.non_finite.data(), kinds_.data(), kinds_.size());
    stream.synchronize();
    return sums;
  }

 private:
  void carry(Stream& stream) {
    const auto blocks = static_cast<unsigned>((counters_ + block_threads - 1) / block_threads);
    const auto native = static_cast<cudaStream_t>(stream.native());
    carry_all<<<blocks, block_threads, 0, native>>>(limbs_.as<std::int64_t>(),
                                                    WeightFormat<T>::limbs, counters_);
    stream.check_launch("the kernel that carries sums of weights");
    added_ = 0;
  }

  std::size_t counters_;
  Buffer limbs_, kinds_;     // on the device: see BinSums
  std::uint64_t added_ = 0;  // weights since the last carry()
};

}  // namespace

std::unique_ptr<WeightAdder> make_cuda_weight_adder(ElementType type, std::size_t counters,
                                                    Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<WeightAdder> {
    return std::make_unique<CudaWeightAdder<T>>(counters, stream);
  });
}

}  // namespace ooc::detail::weighing
