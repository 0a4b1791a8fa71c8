#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "distinct/finder.hpp"
#include "distinct/lane_state.cuh"

namespace ooc::detail::distincts {

namespace {

constexpr std::size_t first_slots = std::size_t{1} << 23;

/// The table of a lane in device memory: bits of 0 are a free slot.
struct DeviceTable {
  Word* bits = nullptr;
  Word* counts = nullptr;  // null: none
  std::size_t slots = 0;   // 0: there is no table
};

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
    raise_rank(state, hash);
    if (table.slots == 0) continue;
    const std::size_t slot = slot_for(table, bits, hash, values);
    if constexpr (has_counts) atomicAdd(&table.counts[slot], Word{equals});
  }
  __syncwarp();
  add_to_sum(&state->values, values);
  add_to_sum(&state->nan, nan);
  add_to_sum(&state->zeros, zeros);
}

/// Adds the entries of a table to one without counts, or without these entries, and the number of
/// those that are new there to `added`, if it is not null.
__global__ void __launch_bounds__(block_threads)
    move_entries(DeviceTable from, DeviceTable to, Word* added) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned values = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < from.slots;
       i += stride) {
    const Word bits = from.bits[i];
    if (bits == 0) continue;
    const std::size_t slot = slot_for(to, bits, hash_of(bits), values);
    if (to.counts != nullptr) to.counts[slot] = from.counts[i];
  }
  __syncwarp();
  if (added != nullptr) add_to_sum(added, values);
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

/// Values that a table of so many slots has room for.
constexpr std::size_t room_in(std::size_t slots) {
  return slots / 10 * 7;
}

/// Moves all entries to the table on the host.
void move_to_host(Stream& stream, const DeviceTable& table, std::uint64_t values, Table& host) {
  constexpr std::size_t at_once = std::size_t{1} << 20;
  std::vector<std::uint64_t> bits(at_once), counts(at_once);
  std::vector<Entry> entries;
  host.reserve(values);
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
    host.add_ascending(entries);
  }
}

/// Returns a larger table with all entries of another one; an empty one if there is no memory.
TableMemory larger_table(Stream& stream, const DeviceTable& table, std::size_t slots,
                         bool has_counts) {
  try {
    TableMemory larger(stream, slots, has_counts);
    if (table.slots != 0) {
      move_entries<<<blocks_for(table.slots), block_threads, 0, native_of(stream)>>>(
          table, larger.table, nullptr);
      stream.check_launch("the kernel of distinct");
    }
    return larger;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  } catch (const std::bad_alloc&) {
  }
  return {};
}

/// The values that lanes of a GPU have left in its memory at their end, in one table.
class CudaLeftValues final : public CountedValues {
 public:
  /// Takes so many values of a lane, for which nothing is enqueued. `counter`: a word of device
  /// memory for what is new. Returns false if the lane has to move its values to the host.
  bool take(Stream& stream, TableMemory& table, std::uint64_t values, Word* counter, Table& host) {
    const std::scoped_lock lock(mutex_);
    if (on_host_) return false;
    if (tables_.empty()) {
      tables_.push_back(std::move(table));
      add(values);
      return true;
    }
    if (!make_room(stream, values)) {
      move_all(stream, host);
      return false;
    }
    stream.fill_zero(counter, sizeof(Word));
    move_entries<<<blocks_for(table.table.slots), block_threads, 0, native_of(stream)>>>(
        table.table, tables_.back().table, counter);
    stream.check_launch("the kernel of distinct");
    Word more = 0;
    stream.copy(&more, counter, sizeof(more));
    stream.synchronize();
    add(more);
    return true;
  }

  /// Moves all values to the host, now and in future: a lane had no memory for its own.
  void give_up(Stream& stream, Table& host) {
    const std::scoped_lock lock(mutex_);
    if (!on_host_) move_all(stream, host);
  }

 private:
  bool make_room(Stream& stream, std::uint64_t values) {
    const DeviceTable& table = tables_.back().table;
    const std::size_t wanted = size() + values;
    if (wanted <= room_in(table.slots)) return true;
    TableMemory larger = larger_table(stream, table, std::bit_ceil(2 * wanted), false);
    if (larger.table.slots == 0) return false;
    tables_.push_back(std::move(larger));
    return true;
  }

  void move_all(Stream& stream, Table& host) {
    on_host_ = true;
    if (tables_.empty()) return;
    move_to_host(stream, tables_.back().table, size(), host);
    add(-size());
  }

  std::mutex mutex_{};
  bool on_host_ = false;
  // The last has all values. Others are of streams that other threads use, and are freed at the
  // end.
  std::vector<TableMemory> tables_{};
};

/// A lane has a table of its own in device memory, which grows. When there is no memory for a
/// larger one, its entries move to the table on the host, which all lanes share; so do they at the
/// end, unless they are left on the GPU.
template <class T>
class CudaDistinctFinder final : public Finder {
 public:
  CudaDistinctFinder(Table* table, CudaLeftValues* left, Stream& stream)
      : host_table_(table), left_(left), state_(make_state(stream)) {}

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
    const auto state = read(stream, state_);
    if (memory_.table.slots != 0) {
      const bool stays = left_ != nullptr && left_->take(stream, memory_, state->values,
                                                         state_.as<Word>(), *host_table_);
      if (!stays) move_to_host(stream, memory_.table, state->values, *host_table_);
    }
    return seen_in(*state);
  }

 private:
  /// Elements that the table has room for, if all are different.
  std::size_t room() const {
    const std::size_t most = room_in(memory_.table.slots);
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
    TableMemory larger = larger_table(stream, memory_.table, slots, host_table_->has_counts());
    if (larger.table.slots == 0) return false;
    memory_ = std::move(larger);
    return true;
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
    if (left_ != nullptr) left_->give_up(stream, *host_table_);
    move_to_host(stream, memory_.table, most_, *host_table_);
    memory_.clear(stream);
    stream.fill_zero(state_.data(), sizeof(Word));  // the number of values
    most_ = 0;
  }

  Table* host_table_;
  CudaLeftValues* left_;
  TableMemory memory_{};
  Buffer state_;
  std::size_t most_ = 0;  // there are no more values in the table than these
};

}  // namespace

std::unique_ptr<CountedValues> make_cuda_left_values() {
  return std::make_unique<CudaLeftValues>();
}

std::unique_ptr<Finder> make_cuda_finder(ElementType type, Table* table, CountedValues* left,
                                         Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) >= 4)
      return std::make_unique<CudaDistinctFinder<T>>(table, static_cast<CudaLeftValues*>(left),
                                                     stream);
    else
      throw Error(ErrorKind::internal, "a table for values of " + std::string(name_of(type)));
  });
}

}  // namespace ooc::detail::distincts
