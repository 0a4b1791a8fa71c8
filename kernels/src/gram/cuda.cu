#include "gram/rows.hpp"

#include <ooc/detail/base/units.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>

namespace ooc::detail::grams {
namespace {

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;  // several waves on any GPU; the kernel strides

template <class T>
__global__ void __launch_bounds__(block_threads)
    fill_rows(const T* data, std::size_t elements, std::size_t columns, const Center<T>* centers,
              double* out) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += stride) {
    out[i] = centers == nullptr ? to_double(data[i]) : distance(data[i], centers[i % columns]);
  }
}

}  // namespace

void fill_rows_cuda(Stream& stream, const Rows& rows, const std::byte* centers, double* out) {
  const std::size_t elements = rows.count * rows.columns;
  if (elements == 0) return;
  const std::size_t blocks = std::min(divide_up(elements, std::size_t{block_threads}), most_blocks);
  visit(rows.type, [&]<class T>(std::type_identity<T>) {
    fill_rows<T><<<static_cast<unsigned>(blocks), block_threads, 0,
                   static_cast<cudaStream_t>(stream.native())>>>(
        reinterpret_cast<const T*>(rows.data), elements, rows.columns,
        reinterpret_cast<const Center<T>*>(centers), out);
  });
  stream.check_launch("the kernel that converts rows");
}

}  // namespace ooc::detail::grams
