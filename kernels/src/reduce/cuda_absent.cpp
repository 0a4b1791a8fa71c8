// Replaces the functions of reduce/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "reduce/exact_sum.hpp"
#include "reduce/tiles.hpp"

namespace ooc::reduction {

void reduce_tiles_cuda(Stream&, ElementType, const std::byte*, std::size_t, std::span<TileResult>) {
  refuse_cuda();
}

void add_exactly_cuda(Stream&, ElementType, const std::byte*, std::size_t, ExactSum&) {
  refuse_cuda();
}

}  // namespace ooc::reduction
