// Replaces the function of by_row/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "by_row/rows.hpp"

namespace ooc::detail::by_row {

void reduce_rows_cuda(Stream&, const Question&, const Rows&) {
  refuse_cuda();
}

}  // namespace ooc::detail::by_row
