#include <cuda_runtime.h>

#include <algorithm>

#include "histogram_2d/cells.hpp"

namespace ooc::detail::pairs {

namespace {

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides

__global__ void __launch_bounds__(block_threads)
    join_numbers(CellNumbers cells, const std::uint32_t* x, std::uint32_t* y, std::size_t count) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    y[i] = cells.number_of(x[i], y[i]);
  }
}

}  // namespace

void join_numbers_cuda(Stream& stream, const CellNumbers& cells, const std::uint32_t* x,
                       std::uint32_t* y, std::size_t count) {
  if (count == 0) return;
  const auto blocks =
      static_cast<unsigned>(std::min((count + block_threads - 1) / block_threads, most_blocks));
  const auto native = static_cast<cudaStream_t>(stream.native());
  join_numbers<<<blocks, block_threads, 0, native>>>(cells, x, y, count);
  stream.check_launch("the kernel that finds cells");
}

}  // namespace ooc::detail::pairs
