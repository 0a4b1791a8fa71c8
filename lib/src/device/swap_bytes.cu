#include <algorithm>
#include <cstdint>

#include "device/swap_bytes.hpp"

namespace ooc {

namespace {

// A 32-bit word takes one byte permutation instruction.
__device__ std::uint16_t reversed(std::uint16_t word) {
  return static_cast<std::uint16_t>(word << 8 | word >> 8);
}
__device__ std::uint32_t reversed(std::uint32_t word) {
  return __byte_perm(word, 0, 0x0123);
}
__device__ std::uint64_t reversed(std::uint64_t word) {
  const auto low = static_cast<std::uint32_t>(word);
  const auto high = static_cast<std::uint32_t>(word >> 32);
  return std::uint64_t{reversed(low)} << 32 | reversed(high);
}

template <class Word>
__global__ void swap_words(Word* words, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    words[i] = reversed(words[i]);
  }
}

template <class Word>
cudaError_t launch(void* data, std::size_t bytes, cudaStream_t stream) {
  constexpr std::size_t threads = 256;
  constexpr std::size_t most_blocks = 1024;  // several waves on any GPU; the kernel strides
  const std::size_t count = bytes / sizeof(Word);
  if (count == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(std::min((count + threads - 1) / threads, most_blocks));
  swap_words<<<blocks, threads, 0, stream>>>(static_cast<Word*>(data), count);
  return cudaGetLastError();
}

}  // namespace

cudaError_t swap_bytes_cuda(void* data, std::size_t bytes, std::size_t element_bytes,
                            cudaStream_t stream) {
  switch (element_bytes) {
    case 2: return launch<std::uint16_t>(data, bytes, stream);
    case 4: return launch<std::uint32_t>(data, bytes, stream);
    case 8: return launch<std::uint64_t>(data, bytes, stream);
    default: return element_bytes == 1 ? cudaSuccess : cudaErrorInvalidValue;
  }
}

cudaError_t find_device_code() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, swap_words<std::uint32_t>);
}

}  // namespace ooc
