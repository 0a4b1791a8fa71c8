#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "histogram/count.hpp"

namespace ooc::detail::binning {

namespace {

using Counter = unsigned long long;  // the type that atomicAdd() takes
static_assert(sizeof(Counter) == sizeof(std::uint64_t));

constexpr unsigned block_threads = 512;
constexpr unsigned blocks_per_multiprocessor = 4;
constexpr std::size_t load_bytes = 16;  // bytes that a thread loads at once

/// Number of 32-bit counters that a block keeps in shared memory. Devices offer more than 48 KiB on
/// request, but then fewer blocks are resident, and adding up so many counters takes longer than
/// counting the elements of a chunk.
constexpr std::size_t shared_counters = (std::size_t{48} << 10) / sizeof(unsigned);

/// Returns the number of blocks that fill the current device.
unsigned blocks_of_device(Stream& stream) {
  int device = 0;
  int multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  stream.check_launch("a histogram");
  return static_cast<unsigned>(multiprocessors) * blocks_per_multiprocessor;
}

/// Returns the number of blocks for so many bytes, at most `most`, such that no block is idle.
unsigned blocks_for(std::size_t bytes, unsigned most) {
  constexpr std::size_t block_bytes = block_threads * load_bytes;
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / block_bytes, 1, most));
}

/// The elements that a thread loads at once.
template <class T>
struct alignas(load_bytes) Pack {
  T values[load_bytes / sizeof(T)];
};

/// Calls `body` with every element, each in one thread of the grid. `data` need not be aligned to a
/// pack: elements before the first and after the last whole pack are loaded one by one.
template <class T, class Body>
__device__ void for_each_element(const T* data, std::size_t count, Body&& body) {
  constexpr std::size_t pack_elements = load_bytes / sizeof(T);
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;

  const std::size_t past_pack = reinterpret_cast<std::uintptr_t>(data) % load_bytes / sizeof(T);
  const std::size_t to_pack = (pack_elements - past_pack) % pack_elements;
  const std::size_t before = to_pack < count ? to_pack : count;
  const std::size_t packs = (count - before) / pack_elements;
  const std::size_t behind = before + packs * pack_elements;

  const auto* const first_pack = reinterpret_cast<const Pack<T>*>(data + before);
  for (std::size_t i = thread; i < packs; i += threads) {
    const Pack<T> pack = first_pack[i];
#pragma unroll
    for (const T value : pack.values) body(value);
  }
  if (thread < before) body(data[thread]);
  if (thread < count - behind) body(data[behind + thread]);
}

/// Reduces a value over the threads of a full warp.
template <class T, class Add>
__device__ T warp_total(T value, Add add) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    value = add(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// --- counters -----------------------------------------------------------------------------------

/// Maps elements to counters in the shared memory of a block, and these counters to bins. Elements
/// of one byte have a counter for each bit pattern, others one for each bin.
template <class T, class Found>
struct Keys {
  Found bins;

  static constexpr bool are_patterns = sizeof(T) == 1;

  std::size_t size() const { return are_patterns ? 256 : static_cast<std::size_t>(bins.nan()) + 1; }
  __device__ unsigned key_of(T value) const {
    if constexpr (are_patterns)
      return std::bit_cast<std::uint8_t>(value);
    else
      return number_in(bins, value);
  }
  __device__ unsigned bin_of(unsigned key) const {
    if constexpr (are_patterns) {
      return number_in(bins, std::bit_cast<T>(static_cast<std::uint8_t>(key)));
    } else {
      return key;
    }
  }
};

/// Counts in shared memory, then adds to `totals`. A thread counts a run of equal keys before it
/// adds it, so that threads do not contend for one counter if the data is constant.
template <class T, class Found>
__global__ void __launch_bounds__(block_threads)
    count_in_blocks(const T* data, std::size_t count, Keys<T, Found> keys, unsigned key_count,
                    Counter* totals) {
  extern __shared__ unsigned counters[];
  for (unsigned key = threadIdx.x; key < key_count; key += blockDim.x) counters[key] = 0;
  __syncthreads();

  unsigned run_key = 0;
  unsigned run_length = 0;
  for_each_element(data, count, [&](T value) {
    const unsigned key = keys.key_of(value);
    if (key != run_key) {
      if (run_length != 0) atomicAdd(counters + run_key, run_length);
      run_key = key;
      run_length = 0;
    }
    ++run_length;
  });
  if (run_length != 0) atomicAdd(counters + run_key, run_length);
  __syncthreads();

  for (unsigned key = threadIdx.x; key < key_count; key += blockDim.x) {
    if (counters[key] != 0) atomicAdd(totals + keys.bin_of(key), Counter{counters[key]});
  }
}

/// Counts in global memory, for more bins than fit shared memory. Threads of a warp with the same
/// bin are added by one of them. Each thread counts the elements in the bin of one that the block
/// has taken as a sample, since nearly all may be in one bin, whose counter all would wait for: in
/// a later pass of a search they are in none, and so in that of values below.
template <class T, class Found>
__global__ void __launch_bounds__(block_threads)
    count_in_device(const T* data, std::size_t count, Found bins, Counter* totals) {
  __shared__ unsigned sample, in_sample;
  if (threadIdx.x == 0) {
    sample = number_in(bins, data[count / gridDim.x * blockIdx.x]);
    in_sample = 0;
  }
  __syncthreads();
  const unsigned frequent = sample;
  unsigned own = 0;
  for_each_element(data, count, [&](T value) {
    const unsigned bin = number_in(bins, value);
    if (bin == frequent) {
      ++own;
      return;
    }
    const unsigned same = __match_any_sync(__activemask(), bin);
    const unsigned lane = threadIdx.x % warpSize;
    if (lane == static_cast<unsigned>(__ffs(static_cast<int>(same))) - 1) {
      atomicAdd(totals + bin, Counter{static_cast<unsigned>(__popc(same))});
    }
  });
  const unsigned of_warp = warp_total(own, [](unsigned a, unsigned b) { return a + b; });
  if (of_warp != 0 && threadIdx.x % warpSize == 0) atomicAdd(&in_sample, of_warp);
  __syncthreads();
  if (threadIdx.x == 0 && in_sample != 0) atomicAdd(totals + frequent, Counter{in_sample});
}

/// Bins whose table, if they have one, is in device memory.
template <class Found>
struct DeviceBins {
  Found bins;
  Buffer table{};

  DeviceBins(const Found& all, Stream& stream) : bins(all) {
    if constexpr (requires { all.table(); }) {
      const auto values = all.table();
      table = Buffer(stream.temporaries(), values.size_bytes());
      stream.copy(table.data(), values.data(), values.size_bytes());
      bins.set_table(table.as<typename decltype(values)::value_type>());
    }
  }
};

template <class T, class Found>
class CudaCounter final : public BinCounter {
 public:
  CudaCounter(const Found& bins, Stream& stream)
      : bins_(bins, stream),
        blocks_(blocks_of_device(stream)),
        counters_(stream.temporaries(), (static_cast<std::size_t>(bins.nan()) + 1) * 8) {
    stream.fill_zero(counters_.data(), counters_.size());
  }

  void count(Stream& stream, DeviceSpan<const std::byte> data) override {
    if (data.size == 0) return;
    const T* const values = reinterpret_cast<const T*>(data.data);
    const std::size_t count = data.size / sizeof(T);
    const unsigned blocks = blocks_for(data.size, blocks_);
    const auto native = static_cast<cudaStream_t>(stream.native());
    const Keys<T, Found> keys{bins_.bins};
    if (keys.size() <= shared_counters) {
      const auto key_count = static_cast<unsigned>(keys.size());
      count_in_blocks<<<blocks, block_threads, key_count * sizeof(unsigned), native>>>(
          values, count, keys, key_count, counters_.as<Counter>());
    } else {
      count_in_device<<<blocks, block_threads, 0, native>>>(values, count, bins_.bins,
                                                            counters_.as<Counter>());
    }
    stream.check_launch("the kernel of a histogram");
  }

  void finish(Stream& stream) override {
    counts_.resize(counters_.size() / sizeof(std::uint64_t));
    stream.copy(counts_.data(), counters_.data(), counters_.size());
    stream.synchronize();
  }

  void add_to(std::span<std::uint64_t> counts) override {
    std::transform(counts_.begin(), counts_.end(), counts.begin(), counts.begin(), std::plus<>());
    counts_ = {};
  }

 private:
  DeviceBins<Found> bins_;
  unsigned blocks_;
  Buffer counters_;
  std::vector<std::uint64_t> counts_{};  // on the host
};

template <class T, class Found>
__global__ void __launch_bounds__(block_threads)
    number_elements(const T* data, std::size_t count, Found bins, std::uint32_t* numbers) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    numbers[i] = number_in(bins, data[i]);
  }
}

template <class T, class Found>
class CudaBinFinder final : public BinFinder {
 public:
  CudaBinFinder(const Found& bins, Stream& stream)
      : bins_(bins, stream), blocks_(blocks_of_device(stream)) {}

  void find(Stream& stream, DeviceSpan<const std::byte> data, std::uint32_t* numbers) override {
    if (data.size == 0) return;
    const auto native = static_cast<cudaStream_t>(stream.native());
    number_elements<<<blocks_for(data.size, blocks_), block_threads, 0, native>>>(
        reinterpret_cast<const T*>(data.data), data.size / sizeof(T), bins_.bins, numbers);
    stream.check_launch("the kernel that finds bins");
  }

 private:
  DeviceBins<Found> bins_;
  unsigned blocks_;
};

// --- extremes -----------------------------------------------------------------------------------

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

/// Returns an integer that orders as doubles do and is never 0 for a finite one.
__device__ std::uint64_t key_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & sign_bit) != 0 ? ~bits : bits | sign_bit;
}
double value_of(std::uint64_t key) {
  return std::bit_cast<double>((key & sign_bit) != 0 ? key & ~sign_bit : ~key);
}

/// Extremes in device memory. The initial state is all zero, since both keys are maxima.
struct DeviceExtremes {
  Counter highest_key;
  Counter inverted_lowest_key;
  Counter nan, negative_infinities, positive_infinities;
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    find_extremes(const T* data, std::size_t count, DeviceExtremes* extremes) {
  double lowest = DBL_MAX;
  double highest = -DBL_MAX;
  unsigned finite = 0, nan = 0, negative_infinities = 0, positive_infinities = 0;
  for_each_element(data, count, [&](T element) {
    const double value = to_double(element);
    if (fabs(value) <= DBL_MAX) {
      lowest = fmin(lowest, value);
      highest = fmax(highest, value);
      ++finite;
    } else if (value != value) {
      ++nan;
    } else {
      ++(value < 0 ? negative_infinities : positive_infinities);
    }
  });

  const auto plus = [](unsigned a, unsigned b) { return a + b; };
  lowest = warp_total(lowest, [](double a, double b) { return fmin(a, b); });
  highest = warp_total(highest, [](double a, double b) { return fmax(a, b); });
  finite = warp_total(finite, plus);
  nan = warp_total(nan, plus);
  negative_infinities = warp_total(negative_infinities, plus);
  positive_infinities = warp_total(positive_infinities, plus);
  if (threadIdx.x % warpSize != 0) return;
  if (finite != 0) {
    atomicMax(&extremes->highest_key, Counter{key_of(highest)});
    atomicMax(&extremes->inverted_lowest_key, Counter{~key_of(lowest)});
  }
  if (nan != 0) atomicAdd(&extremes->nan, Counter{nan});
  if (negative_infinities != 0) {
    atomicAdd(&extremes->negative_infinities, Counter{negative_infinities});
  }
  if (positive_infinities != 0) {
    atomicAdd(&extremes->positive_infinities, Counter{positive_infinities});
  }
}

template <class T>
class CudaFinder final : public ExtremesFinder {
 public:
  explicit CudaFinder(Stream& stream)
      : blocks_(blocks_of_device(stream)), extremes_(stream.temporaries(), sizeof(DeviceExtremes)) {
    stream.fill_zero(extremes_.data(), extremes_.size());
  }

  void look(Stream& stream, DeviceSpan<const std::byte> data) override {
    if (data.size == 0) return;
    const auto native = static_cast<cudaStream_t>(stream.native());
    find_extremes<<<blocks_for(data.size, blocks_), block_threads, 0, native>>>(
        reinterpret_cast<const T*>(data.data), data.size / sizeof(T),
        extremes_.as<DeviceExtremes>());
    stream.check_launch("the kernel of a histogram's range");
  }

  Extremes finish(Stream& stream) override {
    DeviceExtremes found{};
    stream.copy(&found, extremes_.data(), sizeof(found));
    stream.synchronize();
    Extremes extremes{.nan = found.nan,
                      .negative_infinities = found.negative_infinities,
                      .positive_infinities = found.positive_infinities};
    if (found.highest_key != 0) {
      extremes.highest = value_of(found.highest_key);
      extremes.lowest = value_of(~found.inverted_lowest_key);
    }
    return extremes;
  }

 private:
  unsigned blocks_;
  Buffer extremes_;
};

}  // namespace

std::unique_ptr<BinCounter> make_cuda_counter(ElementType type, const Bins& bins, Stream& stream) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    return visit(bins, [&]<class Found>(const Found& found) -> std::unique_ptr<BinCounter> {
      return std::make_unique<CudaCounter<T, Found>>(found, stream);
    });
  });
}

std::unique_ptr<BinCounter> make_cuda_counter(const NumberedBins& bins, Stream& stream) {
  return std::make_unique<CudaCounter<std::uint32_t, NumberedBins>>(bins, stream);
}

std::unique_ptr<BinFinder> make_cuda_bin_finder(ElementType type, const Bins& bins,
                                                Stream& stream) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    return visit(bins, [&]<class Found>(const Found& found) -> std::unique_ptr<BinFinder> {
      return std::make_unique<CudaBinFinder<T, Found>>(found, stream);
    });
  });
}

std::unique_ptr<BinCounter> make_cuda_counter(ElementType type, const KeyRanges& ranges,
                                              Stream& stream) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<BinCounter> {
    return std::make_unique<CudaCounter<T, KeyBins<T>>>(KeyBins<T>(ranges), stream);
  });
}

std::unique_ptr<ExtremesFinder> make_cuda_finder(ElementType type, Stream& stream) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<ExtremesFinder> {
    return std::make_unique<CudaFinder<T>>(stream);
  });
}

}  // namespace ooc::detail::binning
