// Replaces the functions of gemm/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "gemm/gemm.hpp"

namespace ooc::detail::gemm {

std::unique_ptr<Gemm> make_cublas_gemm(Precision, ElementType, DeviceSpan<std::byte>) {
  refuse_cuda();
}

void load_cublas_library() {
  refuse_cuda();
}

}  // namespace ooc::detail::gemm
