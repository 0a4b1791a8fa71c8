// Replaces the function of gram/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "gram/rows.hpp"

namespace ooc::detail::grams {

void fill_rows_cuda(Stream&, const Rows&, const std::byte*, double*) {
  refuse_cuda();
}

}  // namespace ooc::detail::grams
