#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include "scan/rules.hpp"

namespace ooc::detail::scanning {

namespace {

constexpr unsigned tile_threads = 1024;  // of the block that has a tile
constexpr unsigned rows = tile_elements / row_elements;
/// A tile goes through shared memory in strips of columns, so that memory is read and written along
/// rows, while each thread combines along its own. One more column spreads a column over all banks.
constexpr unsigned strip_columns = 16;
constexpr unsigned strip_elements = rows * strip_columns;

constexpr unsigned finish_threads = 256;
constexpr unsigned finish_elements = 1024;  // of a block: all of one tile
static_assert(tile_elements % finish_elements == 0);

template <class V>
struct StripMemory {
  V values[rows][strip_columns + 1];
  V totals[rows];
};

/// Combines the elements of each row of a tile. Thread r has the total of row r.
template <class Rule, bool exclusive, class V = typename Rule::Value>
__device__ V scan_rows(const typename Rule::Element* in, V* out, unsigned count,
                       StripMemory<V>& shared) {
  V total = Rule::nothing();
  for (unsigned strip = 0; strip < row_elements; strip += strip_columns) {
    const auto for_each = [&](auto body) {
      for (unsigned i = threadIdx.x; i < strip_elements; i += tile_threads) {
        const unsigned row = i / strip_columns, column = i % strip_columns;
        const unsigned place = row * row_elements + strip + column;
        if (place < count) body(shared.values[row][column], place);
      }
    };
    for_each([&](V& value, unsigned place) { value = Rule::value_of(in[place]); });
    __syncthreads();
    if (threadIdx.x < rows) {
      const unsigned first = threadIdx.x * static_cast<unsigned>(row_elements) + strip;
      for (unsigned i = 0; i < strip_columns && first + i < count; ++i) {
        V& value = shared.values[threadIdx.x][i];
        const V before = total;
        total = Rule::combine(total, value);
        value = exclusive ? before : total;
      }
    }
    __syncthreads();
    for_each([&](V& value, unsigned place) { out[place] = value; });
    __syncthreads();
  }
  return total;
}

template <class Rule, bool exclusive>
__global__ void __launch_bounds__(tile_threads)
    begin_tiles(const typename Rule::Element* in, typename Rule::Value* out, std::size_t count,
                Carry* own) {
  using V = typename Rule::Value;
  // An array of words, since constructors of values would run in each thread.
  __shared__ alignas(16) std::uint64_t
      memory[(sizeof(StripMemory<V>) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)];
  auto& shared = *reinterpret_cast<StripMemory<V>*>(memory);
  in += blockIdx.x * tile_elements;
  out += blockIdx.x * tile_elements;
  const auto of_tile =
      static_cast<unsigned>(min(count - blockIdx.x * tile_elements, tile_elements));

  const V of_row = scan_rows<Rule, exclusive>(in, out, of_tile, shared);
  if (threadIdx.x < rows) shared.totals[threadIdx.x] = of_row;
  __syncthreads();
  V total = Rule::nothing();
  if (threadIdx.x == 0) {
    // Rows without elements have a total that changes nothing.
    for (unsigned row = 0; row < rows; ++row) {
      const V after = Rule::combine(total, shared.totals[row]);
      shared.totals[row] = total;
      total = after;
    }
    own->totals[blockIdx.x] = bits_of(total);
    if (blockIdx.x == 0) own->tiles = gridDim.x;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < of_tile; i += tile_threads) {
    out[i] = Rule::combine(shared.totals[i / row_elements], out[i]);
  }
  if constexpr (exclusive) {
    if (threadIdx.x == 0) out[place_of_total(true, of_tile)] = total;
  }
}

template <class Rule>
__global__ void join_carries(const Carry* before, const Carry* own, Carry* after) {
  *after = joined<Rule>(*before, *own);
}

/// Writes what is before each tile.
template <class Rule, bool exclusive>
__global__ void find_totals(typename Rule::Value* out, std::size_t count, const Carry* before,
                            typename Rule::Total* totals) {
  typename Rule::Total total = total_in<Rule>(*before);
  for (std::size_t tile = 0; tile * tile_elements < count; ++tile) {
    const std::size_t first = tile * tile_elements;
    typename Rule::Value& place =
        out[first + place_of_total(exclusive, min(count - first, tile_elements))];
    totals[tile] = total;
    total = Rule::add(total, place);
    if constexpr (exclusive) place = Rule::nothing();
  }
}

template <class Rule>
__global__ void __launch_bounds__(finish_threads)
    finish_results(typename Rule::Value* out, std::size_t count,
                   const typename Rule::Total* totals) {
  const std::size_t first = std::size_t{blockIdx.x} * finish_elements;
  const typename Rule::Total before = totals[first / tile_elements];
  const std::size_t end = min(first + finish_elements, count);
  for (std::size_t i = first + threadIdx.x; i < end; i += finish_threads) {
    out[i] = Rule::result_of(Rule::add(before, out[i]));
  }
}

cudaStream_t native(Stream& stream) {
  return static_cast<cudaStream_t>(stream.native());
}

}  // namespace

void begin_cuda(Stream& stream, const Question& question, const Partition& partition, Carry* own) {
  const auto tiles = static_cast<unsigned>(divide_up(partition.count, tile_elements));
  with_rule(question, [&]<class Rule, class Exclusive>(Rule, Exclusive) {
    begin_tiles<Rule, Exclusive::value><<<tiles, tile_threads, 0, native(stream)>>>(
        reinterpret_cast<const typename Rule::Element*>(partition.in),
        reinterpret_cast<typename Rule::Value*>(partition.out), partition.count, own);
  });
  stream.check_launch("the kernel that begins a scan");
}

void join_cuda(Stream& stream, const Question& question, const Carry* before, const Carry* own,
               Carry* after) {
  with_rule(question, [&]<class Rule, class Exclusive>(Rule, Exclusive) {
    join_carries<Rule><<<1, 1, 0, native(stream)>>>(before, own, after);
  });
  stream.check_launch("the kernel that joins the parts of a scan");
}

void finish_cuda(Stream& stream, const Question& question, const Partition& partition,
                 const Carry* before) {
  const auto blocks = static_cast<unsigned>(divide_up(partition.count, finish_elements));
  const Buffer memory(stream.temporaries(), partition_tiles * sizeof(DoubleTotal));
  with_rule(question, [&]<class Rule, class Exclusive>(Rule, Exclusive) {
    auto* const out = reinterpret_cast<typename Rule::Value*>(partition.out);
    auto* const totals = memory.as<typename Rule::Total>();
    find_totals<Rule, Exclusive::value>
        <<<1, 1, 0, native(stream)>>>(out, partition.count, before, totals);
    finish_results<Rule>
        <<<blocks, finish_threads, 0, native(stream)>>>(out, partition.count, totals);
  });
  stream.check_launch("the kernels that finish a scan");
}

}  // namespace ooc::detail::scanning
