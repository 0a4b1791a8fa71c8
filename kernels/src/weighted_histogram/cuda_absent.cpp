// Replaces the functions of weighted_histogram/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "weighted_histogram/weights.hpp"

namespace ooc::detail::weighing {

std::unique_ptr<WeightAdder> make_cuda_weight_adder(ElementType, std::size_t, Stream&) {
  refuse_cuda();
}

}  // namespace ooc::detail::weighing
