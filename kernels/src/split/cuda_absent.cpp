// Replaces the functions of split/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "split/choice.hpp"

namespace ooc::detail::splitting {

void assign_cuda(Stream&, const Choice&, const ChosenRecords&, std::uint16_t*) {
  refuse_cuda();
}

void number_cuda(Stream&, std::uint64_t, std::size_t, std::int64_t*) {
  refuse_cuda();
}

}  // namespace ooc::detail::splitting
