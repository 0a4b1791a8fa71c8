// Replaces the functions of histogram/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "histogram/count.hpp"

namespace ooc::detail::binning {

std::unique_ptr<BinCounter> make_cuda_counter(ElementType, const Bins&, Stream&) {
  refuse_cuda();
}

std::unique_ptr<BinCounter> make_cuda_counter(ElementType, const KeyRanges&, Stream&) {
  refuse_cuda();
}

std::unique_ptr<BinCounter> make_cuda_counter(const NumberedBins&, Stream&) {
  refuse_cuda();
}

std::unique_ptr<BinFinder> make_cuda_bin_finder(ElementType, const Bins&, Stream&) {
  refuse_cuda();
}

std::unique_ptr<ExtremesFinder> make_cuda_finder(ElementType, Stream&) {
  refuse_cuda();
}

}  // namespace ooc::detail::binning
