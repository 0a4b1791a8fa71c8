// Replaces the function of lines/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "lines/lines.hpp"

namespace ooc::detail::lines {

void reduce_lines_cuda(Stream&, ElementType, const Lines&, TileResult*) {
  refuse_cuda();
}

}  // namespace ooc::detail::lines
