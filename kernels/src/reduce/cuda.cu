#include "reduce/places.hpp"
#include "reduce/threads.cuh"
#include "reduce/tiles.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// One thread block per tile, one thread per column: each thread adds up its column in
// order.

namespace ooc::detail::reduction {
namespace {

/// Of two elements with the same extreme value, returns the one that is first in row-major order.
struct Earlier {
  __device__ PlacedKey operator()(PlacedKey left, PlacedKey right) const {
    return right.place < left.place ? right : left;
  }
};

template <class T, class Body>
__device__ void for_each_in_column(const T* data, std::uint32_t size, Body body) {
  for_each_element(data, 1, threadIdx.x, columns, size, body);
}

template <class T>
__device__ double squares_of_column(const T* data, std::uint32_t size, double mean) {
  double sum = 0;
  for_each_in_column(data, size, [&](T value, std::uint32_t) { add_square(sum, value, mean); });
  return sum;
}

template <class T>
__device__ std::uint32_t infinities_of_column(const T* data, std::uint32_t size) {
  std::uint32_t count = 0;
  for_each_in_column(data, size, [&](T value, std::uint32_t) { count += is_infinite(value); });
  return count;
}

template <class T>
__global__ void __launch_bounds__(columns, 4)
    reduce_tiles(const T* data, std::size_t count, TileResult* results) {
  __shared__ double doubles[columns];
  __shared__ std::uint64_t words[columns];
  __shared__ std::int64_t signed_words[columns];
  __shared__ std::uint32_t counts[columns];
  __shared__ Extreme extremes[columns];

  const std::size_t first = blockIdx.x * tile_elements;
  data += first;
  const auto size = static_cast<std::uint32_t>(min(count - first, tile_elements));

  Column column;
  for_each_in_column(data, size, [&](T value, std::uint32_t index) { add(column, value, index); });

  TileResult result;
  const Extreme min = combine(column.min, Smaller{}, extremes, columns);
  const Extreme max = combine(column.max, Larger{}, extremes, columns);
  result.min_key = key_at(data, min);
  result.argmin = min.index;
  result.max_key = key_at(data, max);
  result.argmax = max.index;
  if constexpr (is_floating<T>) {
    result.nan = combine(column.nan, Add{}, counts, columns);
    result.first_nan = combine(column.first_nan, Smallest{}, counts, columns);
    result.sum = combine(column.sum, Add{}, doubles, columns);
    if (result.nan < size) {
      const double mean = result.sum / static_cast<double>(size - result.nan);
      result.m2 = combine(squares_of_column(data, size, mean), Add{}, doubles, columns);
      // All threads have the same extremes.
      if (is_infinite(data[min.index]) || is_infinite(data[max.index])) {
        result.inf = combine(infinities_of_column(data, size), Add{}, counts, columns);
      }
    }
  } else {
    result.sum_high = combine(column.sum_high, Add{}, signed_words, columns);
    result.sum_low = combine(column.sum_low, Add{}, signed_words, columns);
    if constexpr (has_exact_squares<T>) {
      result.squares = combine(column.squares, Add{}, words, columns);
    } else {
      const double mean = mean_of_integers(result.sum_high, result.sum_low, size);
      result.m2 = combine(squares_of_column(data, size, mean), Add{}, doubles, columns);
    }
  }
  if (threadIdx.x == 0) results[blockIdx.x] = result;
}

/// Finds the first extremes and the first NaN, in row-major order, of elements `begin` to `end` - 1
/// of a chunk, which belong to one array. Each block merges its tile's results into `places`.
template <class T>
__global__ void __launch_bounds__(columns)
    place_tiles(const T* data, std::uint64_t first, std::size_t begin, std::size_t end,
                ArrayPlaces array, const TileResult* results, TilePlaces* places) {
  __shared__ PlacedKey placed[columns];
  __shared__ std::uint64_t words[columns];
  const std::size_t tile = begin / tile_elements + blockIdx.x;
  const TileResult& result = results[tile];
  const std::uint64_t min_rank = rank_of<T>(result.min_key);
  const std::uint64_t max_rank = rank_of<T>(result.max_key);

  PlacedKey min_here, max_here;
  std::uint64_t nan_here = nowhere_at_all;
  const std::size_t tile_end = min((tile + 1) * tile_elements, end);
  for (std::size_t i = max(tile * tile_elements, begin) + threadIdx.x; i < tile_end; i += columns) {
    const T value = data[i];
    if (is_floating<T> && is_nan(value)) {
      nan_here = min(nan_here, array.place_of(first + i));
      continue;
    }
    const std::uint64_t key = order_key(value);
    const std::uint64_t rank = rank_of<T>(key);
    if (rank != min_rank && rank != max_rank) continue;
    const PlacedKey here{array.place_of(first + i), key};
    if (rank == min_rank) min_here = Earlier{}(min_here, here);
    if (rank == max_rank) max_here = Earlier{}(max_here, here);
  }
  const PlacedKey min_found = combine(min_here, Earlier{}, placed, columns);
  const PlacedKey max_found = combine(max_here, Earlier{}, placed, columns);
  const std::uint64_t nan_found = combine(nan_here, Smallest{}, words, columns);
  if (threadIdx.x != 0) return;
  TilePlaces& all = places[tile];
  all.min = Earlier{}(all.min, min_found);
  all.max = Earlier{}(all.max, max_found);
  all.first_nan = min(all.first_nan, nan_found);
}

}  // namespace

void reduce_tiles_cuda(Stream& stream, ElementType type, const std::byte* data, std::size_t count,
                       std::span<TileResult> results) {
  if (results.empty()) return;
  const Buffer on_device(stream.temporaries(), results.size_bytes());
  visit(type, [&]<class T>(std::type_identity<T>) {
    reduce_tiles<<<static_cast<unsigned>(results.size()), columns, 0,
                   static_cast<cudaStream_t>(stream.native())>>>(reinterpret_cast<const T*>(data),
                                                                 count, on_device.as<TileResult>());
  });
  stream.check_launch("the kernel of reduce");
  stream.copy(results.data(), on_device.data(), results.size_bytes());
  stream.synchronize();
}

void place_tiles_cuda(Stream& stream, ElementType type, const std::byte* data,
                      std::span<const PlacedPart> parts, std::uint64_t first,
                      std::span<const TileResult> results, std::span<TilePlaces> places) {
  const Buffer on_device(stream.temporaries(), results.size_bytes());
  const Buffer placed(stream.temporaries(), places.size_bytes());
  stream.copy(on_device.data(), results.data(), results.size_bytes());
  stream.copy(placed.data(), places.data(), places.size_bytes());
  visit(type, [&]<class T>(std::type_identity<T>) {
    for (const auto& [array, begin, end] : parts) {
      const std::size_t tiles = (end - 1) / tile_elements - begin / tile_elements + 1;
      place_tiles<<<static_cast<unsigned>(tiles), columns, 0,
                    static_cast<cudaStream_t>(stream.native())>>>(
          reinterpret_cast<const T*>(data), first, begin, end, array, on_device.as<TileResult>(),
          placed.as<TilePlaces>());
    }
  });
  stream.check_launch("the kernel of reduce");
  stream.copy(places.data(), placed.data(), places.size_bytes());
  stream.synchronize();
}

}  // namespace ooc::detail::reduction
