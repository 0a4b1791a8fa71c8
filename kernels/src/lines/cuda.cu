#include "lines/lines.hpp"
#include "reduce/threads.cuh"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/reduce.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// A thread block reduces a tile of some lines; each of its threads adds up one phase of a line.

namespace ooc::detail::lines {
namespace {

using reduction::Add;
using reduction::combine;
using reduction::Extreme;

/// Threads of a block, if there are enough lines. Those of a warp read at least 32 bytes that lie
/// together of columns, and a block of 256 reads rows together.
template <class T>
constexpr unsigned most_threads = sizeof(T) >= 4 ? 512 : 1024;
constexpr unsigned row_threads = 256;

/// Lines of a block.
template <class T>
unsigned block_lines(const Lines& lines) {
  const std::size_t threads = lines.step == 1 ? row_threads : most_threads<T>;
  return static_cast<unsigned>(std::min(lines.count, threads / lines.phases));
}

/// A tile of some lines, for one block. Its threads beyond `threads` have no elements.
template <class T>
struct Band {
  const T* data;             // of the first line
  std::size_t stride, step;  // as those of Lines
  std::uint32_t length;      // of the tile
  unsigned width;            // lines
  unsigned phases;
  std::size_t result;  // index of the result of the first line

  __device__ Band(const Lines& of, unsigned block_lines)
      : stride(of.stride), step(of.step), phases(static_cast<unsigned>(of.phases)) {
    const std::size_t bands = (of.count + block_lines - 1) / block_lines;
    const std::size_t tile = blockIdx.x / bands;
    const std::size_t line = blockIdx.x % bands * block_lines;
    const std::size_t first = tile * of.tile;
    data = reinterpret_cast<const T*>(of.data) + first * step + line * stride;
    length = static_cast<std::uint32_t>(min(of.length - first, of.tile));
    width = static_cast<unsigned>(min(of.count - line, std::size_t{block_lines}));
    result = tile * of.count + line;
  }

  __device__ unsigned threads() const { return phases * width; }
  __device__ const T* line() const { return data + threadIdx.x % width * stride; }

  /// Calls body(value, index) for the elements of this thread.
  template <class Body>
  __device__ void for_each(Body body) const {
    if (threadIdx.x >= threads()) return;
    reduction::for_each_element(line(), step, threadIdx.x / width, phases, length, body);
  }

  __device__ T at(Extreme extreme) const { return line()[extreme.index * step]; }
  __device__ std::uint64_t key_at(Extreme extreme) const {
    return extreme.index == reduction::nowhere ? 0 : reduction::order_key(at(extreme));
  }
};

template <class T>
__global__ void __launch_bounds__(most_threads<T>)
    reduce_tiles(Lines lines, unsigned block_lines, TileResult* results) {
  __shared__ double doubles[most_threads<T>];
  __shared__ std::uint64_t words[most_threads<T>];
  __shared__ std::int64_t signed_words[most_threads<T>];
  __shared__ std::uint32_t counts[most_threads<T>];
  __shared__ Extreme extremes[most_threads<T>];

  const Band<T> band(lines, block_lines);
  const unsigned threads = band.threads(), width = band.width;
  reduction::Column column;
  band.for_each([&](T value, std::uint32_t i) { reduction::add(column, value, i); });
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
    // All threads take part, whatever their line has.
    const bool has_values = result.nan < band.length;
    const double values = has_values ? band.length - result.nan : 1;
    if (lines.squares) result.m2 = squares_from(result.sum / values);
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
    } else if (lines.squares) {
      result.m2 =
          squares_from(reduction::mean_of_integers(result.sum_high, result.sum_low, band.length));
    }
  }
  if (threadIdx.x < width) results[band.result + threadIdx.x] = result;
}

}  // namespace

void reduce_lines_cuda(Stream& stream, ElementType type, const Lines& lines, TileResult* results) {
  visit(type, [&]<class T>(std::type_identity<T>) {
    const unsigned width = block_lines<T>(lines);
    const std::size_t bands = divide_up(lines.count, std::size_t{width});
    reduce_tiles<T><<<static_cast<unsigned>(lines.tiles() * bands),
                      static_cast<unsigned>(lines.phases * width), 0,
                      static_cast<cudaStream_t>(stream.native())>>>(lines, width, results);
  });
  stream.check_launch("the kernel of reduce");
}

}  // namespace ooc::detail::lines
