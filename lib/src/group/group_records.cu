#include <ooc/detail/base/units.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "group/group_records_cuda.hpp"

namespace ooc::detail {

namespace {

using Group = std::uint16_t;
using Index = std::uint32_t;

constexpr unsigned threads = 256;
constexpr std::uint64_t most_blocks = 4096;  // several waves on any GPU; kernels stride

unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(divide_up(items, std::uint64_t{threads}), 1, most_blocks));
}

/// Numbers the records if `indices` is not null. Those without a group get the number of groups,
/// and `*first_without`, all of whose bits are set before, the least of their indices. All records
/// of a filter may be such ones, so a warp writes that once.
__global__ void prepare(Group* groups, Index* indices, Index count, Group group_count,
                        unsigned long long* first_without) {
  constexpr Index none = std::numeric_limits<Index>::max();
  const Index stride = gridDim.x * blockDim.x;
  Index least = none;
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const auto index = static_cast<Index>(i);
    if (indices != nullptr) indices[i] = index;
    if (groups[i] < group_count) continue;
    groups[i] = group_count;
    least = min(least, index);
  }
  for (unsigned lanes = warpSize / 2; lanes != 0; lanes /= 2) {
    least = min(least, __shfl_down_sync(0xffffffffu, least, lanes));
  }
  if (threadIdx.x % warpSize == 0 && least != none) atomicMin(first_without, least);
}

/// Returns how many of the sorted numbers are less than `group`.
__device__ Index begin_of(const Group* groups, Index count, unsigned group) {
  Index begin = 0, end = count;
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (groups[middle] < group) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

__global__ void measure(const Group* groups, Index count, unsigned group_count,
                        std::uint64_t* sizes) {
  const unsigned group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group < group_count) {
    sizes[group] = begin_of(groups, count, group + 1) - begin_of(groups, count, group);
  }
  if (group == group_count) sizes[group] = min(sizes[group], std::uint64_t{count});
}

/// Copies the records in the order of `indices`, a word by each thread.
template <class Word>
__global__ void gather_records(Word* target, const Word* source, const Index* indices,
                               std::uint64_t words, std::uint64_t record_words) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    target[i] = source[indices[i / record_words] * record_words + i % record_words];
  }
}

template <class Word>
cudaError_t gather_words(const GroupedRecords& records, const Index* indices, cudaStream_t stream) {
  const std::uint64_t record_words = records.record_bytes / sizeof(Word);
  const std::uint64_t words = records.count * record_words;
  gather_records<<<blocks_for(words), threads, 0, stream>>>(
      reinterpret_cast<Word*>(records.target), reinterpret_cast<const Word*>(records.source),
      indices, words, record_words);
  return cudaGetLastError();
}

/// Returns the largest word that divides all addresses of records (bytes).
std::size_t word_of(const GroupedRecords& records) {
  const std::size_t addresses = reinterpret_cast<std::uintptr_t>(records.target) |
                                reinterpret_cast<std::uintptr_t>(records.source) |
                                records.record_bytes;
  return std::min<std::size_t>(addresses & (~addresses + 1), 8);
}

/// Sorts values by the groups of the records; the sort is stable. `sorted`: room for the groups.
template <class Value>
cudaError_t sort(const GroupedRecords& records, Group* sorted, const Value* values, Value* target,
                 MemoryResource& temporaries, cudaStream_t stream) {
  const auto count = static_cast<Index>(records.count);
  const auto bits =
      static_cast<int>(std::bit_width(records.group_count));  // of the number of groups, too
  std::size_t bytes = 0;
  const auto call = [&](void* memory) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, records.groups, sorted, values, target,
                                           count, 0, bits, stream);
  };
  if (const cudaError_t status = call(nullptr); status != cudaSuccess) return status;
  const Buffer memory(temporaries, std::max<std::size_t>(bytes, 1));
  return call(memory.data());
}

/// Sorts the records themselves, whose size is that of Value.
template <class Value>
cudaError_t sort_records(const GroupedRecords& records, Group* sorted, MemoryResource& temporaries,
                         cudaStream_t stream) {
  return sort(records, sorted, reinterpret_cast<const Value*>(records.source),
              reinterpret_cast<Value*>(records.target), temporaries, stream);
}

/// Sorts the indices of the records, and copies the records in their order.
cudaError_t sort_indices(const GroupedRecords& records, Group* sorted, Index* indices,
                         MemoryResource& temporaries, cudaStream_t stream) {
  const Buffer room(temporaries, records.count * sizeof(Index));
  auto* const order = room.as<Index>();
  const cudaError_t status = sort(records, sorted, indices, order, temporaries, stream);
  if (status != cudaSuccess) return status;
  switch (word_of(records)) {
    case 1: return gather_words<std::uint8_t>(records, order, stream);
    case 2: return gather_words<std::uint16_t>(records, order, stream);
    case 4: return gather_words<std::uint32_t>(records, order, stream);
    default: return gather_words<std::uint64_t>(records, order, stream);
  }
}

cudaError_t group_all(const GroupedRecords& records, Group* sorted, Index* indices,
                      MemoryResource& temporaries, cudaStream_t stream) {
  if (indices != nullptr) return sort_indices(records, sorted, indices, temporaries, stream);
  switch (records.record_bytes) {
    case 1: return sort_records<std::uint8_t>(records, sorted, temporaries, stream);
    case 2: return sort_records<std::uint16_t>(records, sorted, temporaries, stream);
    case 4: return sort_records<std::uint32_t>(records, sorted, temporaries, stream);
    default: return sort_records<std::uint64_t>(records, sorted, temporaries, stream);
  }
}

}  // namespace

cudaError_t group_records_cuda(const GroupedRecords& records, MemoryResource& temporaries,
                               cudaStream_t stream) {
  if (records.count > std::numeric_limits<Index>::max()) return cudaErrorInvalidValue;
  const auto count = static_cast<Index>(records.count);
  const auto groups = static_cast<unsigned>(records.group_count);
  const bool is_word = word_of(records) == records.record_bytes;
  const Buffer sorted(temporaries, std::max<std::size_t>(count, 1) * sizeof(Group));
  const Buffer indices(temporaries, is_word ? 1 : std::max<std::size_t>(count, 1) * sizeof(Index));
  auto* const numbers = is_word ? nullptr : indices.as<Index>();
  std::uint64_t* const first_without = records.sizes + groups;
  if (const auto status = cudaMemsetAsync(first_without, 0xff, sizeof(std::uint64_t), stream);
      status != cudaSuccess) {
    return status;
  }
  prepare<<<blocks_for(count), threads, 0, stream>>>(
      records.groups, numbers, count, static_cast<Group>(groups),
      reinterpret_cast<unsigned long long*>(first_without));
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  const cudaError_t status = group_all(records, sorted.as<Group>(), numbers, temporaries, stream);
  if (status != cudaSuccess) return status;
  measure<<<groups / threads + 1, threads, 0, stream>>>(sorted.as<Group>(), count, groups,
                                                        records.sizes);
  return cudaGetLastError();
}

}  // namespace ooc::detail
