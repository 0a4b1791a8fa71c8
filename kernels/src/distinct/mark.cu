#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include "distinct/finder.hpp"
#include "distinct/lane_state.cuh"

namespace ooc::detail::distincts {

namespace {

constexpr unsigned at_once = 4;  // elements of a thread

/// Marks elements of four bytes in a bitmap, and adds those to the sketch that were not marked.
/// A thread asks for the words of several elements before it looks at the first.
template <class T>
__global__ void __launch_bounds__(block_threads)
    mark_elements(const T* data, std::size_t count, Bitmap::Word* words, LaneState* state) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned marked = 0, nan = 0, zeros = 0;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; first < count;
       first += at_once * stride) {
    unsigned bits[at_once], found[at_once];
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const std::size_t at = first + i * stride;
      bits[i] = 0;
      if (at >= count) continue;
      const T element = data[at];
      if (binning::is_a_nan(element)) {
        ++nan;
      } else {
        bits[i] = static_cast<unsigned>(bits_of(element));
        if (bits[i] == 0) ++zeros;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) found[i] = words[bits[i] / Bitmap::word_bits];
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const unsigned mark = 1u << bits[i] % Bitmap::word_bits;
      if (bits[i] == 0 || (found[i] & mark) != 0) continue;
      if ((atomicOr(words + bits[i] / Bitmap::word_bits, mark) & mark) != 0) continue;
      ++marked;
      raise_rank(state, hash_of(bits[i]));
    }
  }
  __syncwarp();
  add_to_sum(&state->values, marked);
  add_to_sum(&state->nan, nan);
  add_to_sum(&state->zeros, zeros);
}

/// Marks values in a bitmap that other lanes share.
template <class T>
class CudaMarker final : public Finder {
 public:
  CudaMarker(Bitmap& bitmap, Stream& stream) : bitmap_(bitmap), state_(make_state(stream)) {}

  void look(Stream& stream, DeviceSpan<const std::byte> data) override {
    const std::size_t count = data.size / sizeof(T);
    mark_elements<<<blocks_for(count / at_once), block_threads, 0, native_of(stream)>>>(
        reinterpret_cast<const T*>(data.data), count, bitmap_.words(), state_.as<LaneState>());
    stream.check_launch("the kernel of distinct");
  }

  Seen finish(Stream& stream) override {
    const auto state = read(stream, state_);
    bitmap_.add(state->values);
    return seen_in(*state);
  }

 private:
  Bitmap& bitmap_;
  Buffer state_;
};

}  // namespace

std::unique_ptr<Finder> make_cuda_marker(ElementType type, Bitmap& bitmap, Stream& stream) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) == 4)
      return std::make_unique<CudaMarker<T>>(bitmap, stream);
    else
      throw Error(ErrorKind::internal, "a bitmap for values of " + std::string(name_of(type)));
  });
}

}  // namespace ooc::detail::distincts
