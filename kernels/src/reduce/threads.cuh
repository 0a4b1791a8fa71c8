#pragma once

#include "reduce/tiles.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The work of one thread of a block on its column of a tile, and how the threads of a block combine
// what they have found. For reduce/cuda.cu and lines/cuda.cu.

namespace ooc::detail::reduction {

/// Combines values of the first `size` threads of a block, which are `left` times a power of two,
/// until `left` are left: thread j joins its value with that of thread j + s, as tiles.hpp says.
/// All threads get the result of thread j % left.
template <class V, class Join>
__device__ V combine(V mine, Join join, V* shared, unsigned size, unsigned left = 1) {
  const unsigned j = threadIdx.x;
  shared[j] = mine;
  __syncthreads();
  for (unsigned s = size / 2; s >= left; s /= 2) {
    if (j < s) shared[j] = join(shared[j], shared[j + s]);
    __syncthreads();
  }
  const V result = shared[j % left];
  __syncthreads();  // the memory may be reused after this
  return result;
}

struct Add {
  template <class V>
  __device__ V operator()(V left, V right) const {
    return left + right;
  }
};

/// The rank of a value and its index; nowhere if there is no value.
struct Extreme {
  std::uint64_t rank;
  std::uint32_t index;
};

struct Smaller {
  __device__ Extreme operator()(Extreme left, Extreme right) const {
    if (left.index == nowhere) return right;
    if (right.index == nowhere) return left;
    if (left.rank != right.rank) return left.rank < right.rank ? left : right;
    return left.index < right.index ? left : right;
  }
};

struct Larger {
  __device__ Extreme operator()(Extreme left, Extreme right) const {
    if (left.index == nowhere) return right;
    if (right.index == nowhere) return left;
    if (left.rank != right.rank) return left.rank > right.rank ? left : right;
    return left.index < right.index ? left : right;
  }
};

struct Smallest {
  template <class V>
  __device__ V operator()(V left, V right) const {
    return left < right ? left : right;  // `nowhere` is the largest index
  }
};

/// The results of a thread for its column.
struct Column {
  double sum = 0;
  std::int64_t sum_high = 0;
  std::int64_t sum_low = 0;
  std::uint64_t squares = 0;
  std::uint32_t nan = 0;
  std::uint32_t first_nan = nowhere;
  Extreme min{0, nowhere};
  Extreme max{0, nowhere};
};

template <class T>
__device__ bool is_nan(T value) {
  const double number = to_double(value);
  return number != number;
}

template <class T>
__device__ bool is_infinite(T value) {
  const double number = to_double(value);
  return number - number != 0 && number == number;
}

template <class T>
__device__ void add(Column& column, T value, std::uint32_t index) {
  if constexpr (is_floating<T>) {
    if (is_nan(value)) {
      if (column.nan == 0) column.first_nan = index;
      ++column.nan;
      return;
    }
    column.sum += to_double(value);
  } else if constexpr (sizeof(T) == 8) {
    column.sum_high += static_cast<std::int64_t>(value >> 32);
    column.sum_low += static_cast<std::uint32_t>(value);
  } else {
    const auto wide = static_cast<std::int64_t>(value);
    column.sum_low += wide;
    if constexpr (has_exact_squares<T>) column.squares += static_cast<std::uint64_t>(wide * wide);
  }
  const std::uint64_t rank = rank_of<T>(order_key(value));
  if (column.min.index == nowhere || rank < column.min.rank) column.min = {rank, index};
  if (column.max.index == nowhere || rank > column.max.rank) column.max = {rank, index};
}

/// Returns the key of the element at an extreme. The rank is the same for both zeros.
template <class T>
__device__ std::uint64_t key_at(const T* data, Extreme extreme) {
  return extreme.index == nowhere ? 0 : order_key(data[extreme.index]);
}

/// Calls body(value, index) for the elements of a thread, in order: index `first` and every
/// `step`th behind it, up to `end`. Neighbours lie `stride` elements apart. Loads several of them
/// before it uses the first, so that the loads overlap.
template <class T, class Body>
__device__ void for_each_element(const T* data, std::size_t stride, std::uint32_t first,
                                 std::uint32_t step, std::uint32_t end, Body body) {
  constexpr std::uint32_t batch = 8;
  std::uint32_t i = first;
  for (; i + (batch - 1) * step < end; i += batch * step) {
    T values[batch];
#pragma unroll
    for (std::uint32_t k = 0; k < batch; ++k) values[k] = data[(i + k * step) * stride];
#pragma unroll
    for (std::uint32_t k = 0; k < batch; ++k) body(values[k], i + k * step);
  }
  for (; i < end; i += step) body(data[i * stride], i);
}

/// Adds the squared distance of a value from a mean.
template <class T>
__device__ void add_square(double& sum, T value, double mean) {
  if constexpr (is_floating<T>) {
    if (is_nan(value)) return;
  }
  const double distance = to_double(value) - mean;
  sum += distance * distance;
}

}  // namespace ooc::detail::reduction
