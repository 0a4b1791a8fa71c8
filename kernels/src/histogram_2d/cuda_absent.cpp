// Replaces the functions of histogram_2d/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "histogram_2d/cells.hpp"

namespace ooc::detail::pairs {

void join_numbers_cuda(Stream&, const CellNumbers&, const std::uint32_t*, std::uint32_t*,
                       std::size_t) {
  refuse_cuda();
}

}  // namespace ooc::detail::pairs
