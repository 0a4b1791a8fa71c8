// Replaces the functions of scan/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "scan/rules.hpp"

namespace ooc::detail::scanning {

void begin_cuda(Stream&, const Question&, const Partition&, Carry*) {
  refuse_cuda();
}

void join_cuda(Stream&, const Question&, const Carry*, const Carry*, Carry*) {
  refuse_cuda();
}

void finish_cuda(Stream&, const Question&, const Partition&, const Carry*) {
  refuse_cuda();
}

}  // namespace ooc::detail::scanning
