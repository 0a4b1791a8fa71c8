// Replaces the function of distinct/ that needs CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "distinct/finder.hpp"

namespace ooc::detail::distincts {

std::unique_ptr<Finder> make_cuda_finder(ElementType, Table*, CountedValues*, Stream&) {
  refuse_cuda();
}

std::unique_ptr<CountedValues> make_cuda_left_values() {
  refuse_cuda();
}

std::unique_ptr<Finder> make_cuda_marker(ElementType, Bitmap&, Stream&) {
  refuse_cuda();
}

}  // namespace ooc::detail::distincts
