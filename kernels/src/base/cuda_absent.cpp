#include "base/cuda_absent.hpp"

#include <ooc/error.hpp>

namespace ooc::detail {

void refuse_cuda() {
  throw Error(ErrorKind::device, "this build of libooc has no CUDA kernels",
              {.hint = "build it with -DOOC_CUDA=ON"});
}

}  // namespace ooc::detail
