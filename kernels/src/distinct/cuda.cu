#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "distinct/finder.hpp"

namespace ooc::detail::distincts {

namespace {

using Word = unsigned long long;  // the type that atomic functions take
static_assert(sizeof(Word) == sizeof(std::uint64_t));

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides
constexpr std::size_t first_slots = std::size_t{1} << 23;

/// The table of a lane in device memory: bits of 0 are a free slot.
struct DeviceTable {
  Word* bits = nullptr;
  Word* counts = nullptr;  // null: none
  std::size_t slots = 0;   // 0: there is no table
};

/// The findings of a lane, in device memory, besides its table.
struct LaneState {
  Word values, nan, zeros;
  unsigned ranks[registers];  // the registers of the sketch
};

__device__ void add_to_sum(Word* sum, unsigned value) {
  for (int distance = 16; distance != 0; distance /= 2) {
    value += __shfl_down_sync(~0u, value, distance);
  }
  if (threadIdx.x % warpSize == 0 && value != 0) atomicAdd(sum, Word{value});
}

/// Finds the slot of a value, and takes one if there is none; adds 1 to `values` then. Others may
/// take slots meanwhile, but never change the bits in one.
__device__ std::size_t slot_for(const DeviceTable& table, Word bits, Word hash, unsigned& values) {
  for (std::size_t at = __umul64hi(hash, table.slots);;) {
    Word there = table.bits[at];
    if (there == 0) {
      there = atomicCAS(&table.bits[at], Word{0}, bits);
      if (there == 0) {
        ++values;
        return at;
      }
    }
    if (there == bits) return at;
    if (++at == table.slots) at = 0;
  }
}

/// Adds elements to a table and to the sketch. With counts, the threads of a warp that have the
/// same value add it once: otherwise frequent values would wait for each other's additions.
template <class T, bool has_counts>
__global__ void __launch_bounds__(block_threads)
    add_elements(const T* data, std::size_t count, DeviceTable table, LaneState* state) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const unsigned lane = threadIdx.x % warpSize;
  unsigned values = 0, nan = 0, zeros = 0;
  // The threads of a warp stay together.
  std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x - lane;
  for (; first < count; first += stride) {
    const bool has_element = first + lane < count;
    const T element = data[has_element ? first + lane : first];
    const bool is_nan = binning::is_a_nan(element);
    const Word bits = bits_of(element);
    if (has_element && is_nan) ++nan;
    if (has_element && bits == 0) ++zeros;
    const bool is_other = has_element && !is_nan && bits != 0;
    const unsigned others = __ballot_sync(~0u, is_other);
    if (!is_other) continue;
    unsigned equals = 1;
    if constexpr (has_counts) {
      const unsigned same = __match_any_sync(others, bits);
      if (lane + 1 != static_cast<unsigned>(__ffs(static_cast<int>(same)))) continue;
      equals = static_cast<unsigned>(__popc(same));
    }
    const Word hash = hash_of(bits);
    unsigned* const rank = state->ranks + register_of(hash);
    const auto here = static_cast<unsigned>(__clzll(static_cast<long long>(tail_of(hash)))) + 1;
    if (*rank < here) atomicMax(rank, here);
    if (table.slots == 0) continue;
    const std::size_t slot = slot_for(table, bits, hash, values);
    if constexpr (has_counts) atomicAdd(&table.counts[slot], Word{equals});
  }
  __syncwarp();
  add_to_sum(&state->values, values);
  add_to_sum(&state->nan, nan);
  add_to_sum(&state->zeros, zeros);
}

/// Adds the entries of a table to a larger one.
__global__ void __launch_bounds__(block_threads) move_entries(DeviceTable from, DeviceTable to) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned values = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < from.slots;
       i += stride) {
    const Word bits = from.bits[i];
    if (bits == 0) continue;
    const std::size_t slot = slot_for(to, bits, hash_of(bits), values);
    if (to.counts != nullptr) to.counts[slot] = from.counts[i];
  }
}

/// The memory of a table.
struct TableMemory {
  Buffer bits{}, counts{};
  DeviceTable table{};

  TableMemory() = default;
  TableMemory(Stream& stream, std::size_t slots, bool has_counts)
      : bits(stream.temporaries(), slots * sizeof(Word)) {
    if (has_counts) counts = Buffer(stream.temporaries(), slots * sizeof(Word));
    table = {bits.as<Word>(), counts.as<Word>(), slots};
    clear(stream);
  }

  void clear(Stream& stream) const {
    if (bits.size() != 0) stream.fill_zero(bits.data(), bits.size());
    if (counts.size() != 0) stream.fill_zero(counts.data(), counts.size());
  }
};

unsigned blocks_for(std::size_t items) {
  const std::size_t needed = (items + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::clamp<std::size_t>(needed, 1, most_blocks));
}

cudaStream_t native_of(Stream& stream) {
  return static_cast<cudaStream_t>(stream.native());
}

/// A lane has a table of its own in device memory, which grows. When there is no memory for a
/// larger one, its entries move to the table on the host, which all lanes share; so do they at the
/// end.
template <class T>
class CudaDistinctFinder final : public Finder {
 public:
  CudaDistinctFinder(Table* table, Stream& stream)
      : host_table_(table), state_(stream.temporaries(), sizeof(LaneState)) {
    stream.fill_zero(state_.data(), state_.size());
  }

  void look(Stream& stream, DeviceSpan<const std::byte> data) override {
    const auto* const values = reinterpret_cast<const T*>(data.data);
    const std::size_t count = data.size / sizeof(T);
    for (std::size_t done = 0; done < count;) {
      const bool fills_table = host_table_ != nullptr && !host_table_->is_full();
      if (fills_table)
        make_room(stream, count - done);
      else
        memory_ = TableMemory();
      const std::size_t some = fills_table ? std::min(count - done, room()) : count - done;
      add(stream, values + done, some);
      done += some;
      most_ += some;
    }
  }

  Seen finish(Stream& stream) override {
    if (memory_.table.slots != 0) drain(stream);
    std::vector<LaneState> state(1);
    stream.copy(state.data(), state_.data(), sizeof(LaneState));
    stream.synchronize();
    Seen seen{.nan = state.front().nan, .zeros = state.front().zeros};
    for (std::size_t i = 0; i < registers; ++i) {
      seen.sketch.raise(i, static_cast<std::uint8_t>(state.front().ranks[i]));
    }
    return seen;
  }

 private:
  /// Elements that the table has room for, if all are different.
  std::size_t room() const {
    const std::size_t most = memory_.table.slots / 10 * 7;
    return most > most_ ? most - most_ : 0;
  }

  /// Makes room for some elements: for all of them, or for a seventh of the slots.
  void make_room(Stream& stream, std::size_t wanted) {
    if (memory_.table.slots == 0) {
      if (!replace(stream, first_slots)) replace_small(stream);
      return;
    }
    const std::size_t enough = std::min(wanted, memory_.table.slots / 7);
    if (room() >= enough) return;
    stream.copy(&most_, state_.data(), sizeof(most_));  // the first member: the number of values
    stream.synchronize();
    if (room() >= enough) return;
    if (!replace(stream, 2 * memory_.table.slots)) drain(stream);
  }

  /// Takes a larger table. Returns false if there is no memory for it.
  bool replace(Stream& stream, std::size_t slots) {
    try {
      TableMemory larger(stream, slots, host_table_->has_counts());
      if (memory_.table.slots != 0) {
        move_entries<<<blocks_for(memory_.table.slots), block_threads, 0, native_of(stream)>>>(
            memory_.table, larger.table);
        stream.check_launch("the kernel of distinct");
      }
      memory_ = std::move(larger);
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
    } catch (const std::bad_alloc&) {
    }
    return false;
  }

  /// Takes the largest first table that there is memory for.
  void replace_small(Stream& stream) {
    constexpr std::size_t least_slots = 1024;
    std::size_t slots = first_slots;
    do slots /= 2;
    while (slots > least_slots && !replace(stream, slots));
    if (memory_.table.slots == 0) {
      memory_ = TableMemory(stream, least_slots, host_table_->has_counts());  // throws
    }
  }

  void add(Stream& stream, const T* values, std::size_t count) {
    const auto call = [&](auto* kernel) {
      kernel<<<blocks_for(count), block_threads, 0, native_of(stream)>>>(
          values, count, memory_.table, state_.as<LaneState>());
    };
    if (memory_.table.counts != nullptr)
      call(add_elements<T, true>);
    else
      call(add_elements<T, false>);
    stream.check_launch("the kernel of distinct");
  }

  /// Moves all entries to the table on the host.
  void drain(Stream& stream) {
    constexpr std::size_t at_once = std::size_t{1} << 20;
    const DeviceTable& table = memory_.table;
    std::vector<std::uint64_t> bits(at_once), counts(at_once);
    std::vector<Entry> entries;
    for (std::size_t done = 0; done < table.slots; done += at_once) {
      const std::size_t some = std::min(at_once, table.slots - done);
      stream.copy(bits.data(), table.bits + done, some * sizeof(Word));
      if (table.counts != nullptr) {
        stream.copy(counts.data(), table.counts + done, some * sizeof(Word));
      }
      stream.synchronize();
      entries.clear();
      for (std::size_t i = 0; i < some; ++i) {
        if (bits[i] != 0) entries.push_back({bits[i], counts[i]});
      }
      host_table_->add_ascending(entries);
    }
    memory_.clear(stream);
    stream.fill_zero(state_.data(), sizeof(Word));  // the number of values
    most_ = 0;
  }

  Table* host_table_;
  TableMemory memory_{};
  Buffer state_;
  std::size_t most_ = 0;  // there are no more values in the table than these
};

}  // namespace

std::unique_ptr<Finder> make_cuda_finder(ElementType type, Table* table, Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) >= 4)
      return std::make_unique<CudaDistinctFinder<T>>(table, stream);
    else
      throw Error(ErrorKind::internal, "a table for values of " + std::string(name_of(type)));
  });
}

}  // namespace ooc::detail::distincts
