#include <algorithm>
#include <cstdint>

#include "device/swap_bytes.hpp"

namespace ooc::detail {

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

/// A thread for each row.
__global__ void make_bools(std::uint8_t* data, std::size_t pitch, std::size_t row_bytes,
                           std::size_t rows) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
    std::uint8_t* const row = data + i * pitch;
    for (std::size_t k = 0; k < row_bytes; ++k) row[k] = row[k] != 0 ? 1 : 0;
  }
}

constexpr unsigned threads = 256;

/// Returns the number of blocks for so many words or rows, over which the threads stride.
unsigned blocks_for(std::size_t count) {
  constexpr std::size_t most_blocks = 1024;  // several waves on any GPU
  return static_cast<unsigned>(std::min((count + threads - 1) / threads, most_blocks));
}

template <class Word>
cudaError_t launch(void* data, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(Word);
  if (count == 0) return cudaSuccess;
  swap_words<<<blocks_for(count), threads, 0, stream>>>(static_cast<Word*>(data), count);
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

cudaError_t make_bools_cuda(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows,
                            cudaStream_t stream) {
  if (pitch == row_bytes) {  // contiguous bytes: adjacent threads take adjacent bytes
    rows *= row_bytes;
    pitch = row_bytes = 1;
  }
  if (rows == 0) return cudaSuccess;
  make_bools<<<blocks_for(rows), threads, 0, stream>>>(static_cast<std::uint8_t*>(data), pitch,
                                                       row_bytes, rows);
  return cudaGetLastError();
}

cudaError_t find_device_code() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, swap_words<std::uint32_t>);
}

}  // namespace ooc::detail
