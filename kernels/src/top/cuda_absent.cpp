// Replaces the function of top/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "top/finder.hpp"

namespace ooc::detail::tops {

std::unique_ptr<Finder> make_cuda_finder(ElementType, const Wanted&, Stream&) {
  refuse_cuda();
}

}  // namespace ooc::detail::tops
