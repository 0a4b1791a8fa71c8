// Replaces the functions of convert/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "convert/values.hpp"

namespace ooc::detail::conversion {

void convert_values_cuda(Stream&, ElementType, ElementType, const std::byte*, std::byte*,
                         std::size_t, Beyond, Losses*) {
  refuse_cuda();
}

}  // namespace ooc::detail::conversion
