#pragma once

#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "distinct/finder.hpp"

// What a lane of a GPU finds besides its values, in device memory.

namespace ooc::detail::distincts {

using Word = unsigned long long;  // the type that atomic functions take
static_assert(sizeof(Word) == sizeof(std::uint64_t));

inline constexpr unsigned block_threads = 256;
inline constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides

/// The findings of a lane, in device memory, besides its table.
struct LaneState {
  Word values, nan, zeros;
  unsigned ranks[registers];  // the registers of the sketch
};

__device__ inline void add_to_sum(Word* sum, unsigned value) {
  for (int distance = 16; distance != 0; distance /= 2) {
    value += __shfl_down_sync(~0u, value, distance);
  }
  if (threadIdx.x % warpSize == 0 && value != 0) atomicAdd(sum, Word{value});
}

/// Adds a hash to the sketch.
__device__ inline void raise_rank(LaneState* state, Word hash) {
  unsigned* const rank = state->ranks + register_of(hash);
  const auto here = static_cast<unsigned>(__clzll(static_cast<long long>(tail_of(hash)))) + 1;
  if (*rank < here) atomicMax(rank, here);
}

inline unsigned blocks_for(std::size_t items) {
  const std::size_t needed = (items + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::clamp<std::size_t>(needed, 1, most_blocks));
}

inline cudaStream_t native_of(Stream& stream) {
  return static_cast<cudaStream_t>(stream.native());
}

inline Buffer make_state(Stream& stream) {
  Buffer state(stream.temporaries(), sizeof(LaneState));
  stream.fill_zero(state.data(), state.size());
  return state;
}

inline std::unique_ptr<LaneState> read(Stream& stream, const Buffer& state) {
  auto read = std::make_unique<LaneState>();
  stream.copy(read.get(), state.data(), sizeof(LaneState));
  stream.synchronize();
  return read;
}

inline Seen seen_in(const LaneState& state) {
  Seen seen{.nan = state.nan, .zeros = state.zeros};
  for (std::size_t i = 0; i < registers; ++i) {
    seen.sketch.raise(i, static_cast<std::uint8_t>(state.ranks[i]));
  }
  return seen;
}

}  // namespace ooc::detail::distincts
