// Replaces the function of by_column/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "by_column/tile.hpp"

namespace ooc::detail::by_column {

void reduce_tiles_cuda(Stream&, ElementType, const Rows&, std::span<TileResult>) {
  refuse_cuda();
}

}  // namespace ooc::detail::by_column
