#include "by_column/tile.hpp"
#include "reduce/threads.cuh"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// A thread block reduces some columns of a tile; each of its threads adds up one phase of a column.

namespace ooc::detail::by_column {
namespace {

using reduction::Add;
using reduction::combine;
using reduction::Extreme;

/// Columns of a block: a warp reads at least 32 bytes of a row at once.
template <class T>
constexpr unsigned block_columns = sizeof(T) >= 4 ? 16 : 32;

template <class T>
constexpr unsigned most_threads = phases* block_columns<T>;

/// Some columns of a tile, for one block. Its threads beyond `threads` have no elements.
template <class T>
struct Band {
  const T* data;       // of the first row and column
  std::size_t stride;  // elements of a row of the data
  std::uint32_t rows;  // of the tile
  unsigned width;      // columns
  std::size_t result;  // index of the result of the first column

  __device__ Band(const T* all, const Rows& of) : stride(of.columns) {
    const std::size_t bands = (of.columns + block_columns<T> - 1) / block_columns<T>;
    const std::size_t tile = blockIdx.x / bands;
    const std::size_t column = blockIdx.x % bands * block_columns<T>;
    const std::size_t row = tile * of.tile;
    data = all + row * stride + column;
    rows = static_cast<std::uint32_t>(min(of.count - row, of.tile));
    width = static_cast<unsigned>(min(stride - column, std::size_t{block_columns<T>}));
    result = tile * stride + column;
  }

  __device__ unsigned threads() const { return phases * width; }

  /// Calls body(value, row) for the elements of this thread.
  template <class Body>
  __device__ void for_each(Body body) const {
    if (threadIdx.x >= threads()) return;
    reduction::for_each_element(data + threadIdx.x % width, stride, threadIdx.x / width, phases,
                                rows, body);
  }

  __device__ T at(Extreme extreme) const {
    return data[extreme.index * stride + threadIdx.x % width];
  }
  __device__ std::uint64_t key_at(Extreme extreme) const {
    return extreme.index == reduction::nowhere ? 0 : reduction::order_key(at(extreme));
  }
};

template <class T>
__global__ void __launch_bounds__(most_threads<T>)
    reduce_tiles(const T* data, Rows rows, TileResult* results) {
  __shared__ double doubles[most_threads<T>];
  __shared__ std::uint64_t words[most_threads<T>];
  __shared__ std::int64_t signed_words[most_threads<T>];
  __shared__ std::uint32_t counts[most_threads<T>];
  __shared__ Extreme extremes[most_threads<T>];

  const Band<T> band(data, rows);
  const unsigned threads = band.threads(), width = band.width;
  reduction::Column column;
  band.for_each([&](T value, std::uint32_t row) { reduction::add(column, value, row); });
  const auto squares_from = [&](double mean) {
    double sum = 0;
    band.for_each([&](T value, std::uint32_t) { reduction::add_square(sum, value, mean); });
    return combine(sum, Add{}, doubles, threads, width);
  };

  TileResult result;
  const Extreme min = combine(column.min, reduction::Smaller{}, extremes, threads, width);
  const Extreme max = combine(column.max, reduction::Larger{}, extremes, threads, width);
  result.min_key = band.key_at(min);
  result.argmin = min.index;
  result.max_key = band.key_at(max);
  result.argmax = max.index;
  if constexpr (is_floating<T>) {
    result.nan = combine(column.nan, Add{}, counts, threads, width);
    result.first_nan = combine(column.first_nan, reduction::Smallest{}, counts, threads, width);
    result.sum = combine(column.sum, Add{}, doubles, threads, width);
    // All threads take part, whatever their column has.
    const bool has_values = result.nan < band.rows;
    const double values = has_values ? band.rows - result.nan : 1;
    result.m2 = squares_from(result.sum / values);
    const bool may_be_infinite = has_values && (reduction::is_infinite(band.at(min)) ||
                                                reduction::is_infinite(band.at(max)));
    if (__syncthreads_or(may_be_infinite)) {
      std::uint32_t infinities = 0;
      band.for_each([&](T value, std::uint32_t) { infinities += reduction::is_infinite(value); });
      result.inf = combine(infinities, Add{}, counts, threads, width);
    }
  } else {
    result.sum_high = combine(column.sum_high, Add{}, signed_words, threads, width);
    result.sum_low = combine(column.sum_low, Add{}, signed_words, threads, width);
    if constexpr (reduction::has_exact_squares<T>) {
      result.squares = combine(column.squares, Add{}, words, threads, width);
    } else {
      result.m2 =
          squares_from(reduction::mean_of_integers(result.sum_high, result.sum_low, band.rows));
    }
  }
  if (threadIdx.x < width) results[band.result + threadIdx.x] = result;
}

}  // namespace

void reduce_tiles_cuda(Stream& stream, ElementType type, const Rows& rows,
                       std::span<TileResult> results) {
  if (results.empty()) return;
  const Buffer on_device(stream.temporaries(), results.size_bytes());
  visit(type, [&]<class T>(std::type_identity<T>) {
    const std::size_t tiles = divide_up(rows.count, rows.tile);
    const std::size_t bands = divide_up(rows.columns, std::size_t{block_columns<T>});
    const std::size_t width = std::min<std::size_t>(rows.columns, block_columns<T>);
    reduce_tiles<<<static_cast<unsigned>(tiles * bands), static_cast<unsigned>(phases * width), 0,
                   static_cast<cudaStream_t>(stream.native())>>>(
        reinterpret_cast<const T*>(rows.data), rows, on_device.as<TileResult>());
  });
  stream.check_launch("the kernel of reduce");
  stream.copy(results.data(), on_device.data(), results.size_bytes());
  stream.synchronize();
}

}  // namespace ooc::detail::by_column
