#pragma once

#include <ooc/detail/device/decoder.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Enqueues the copies or kernels of Decoder::gather(). Kernels read all bytes of the aligned words
/// of 16 bytes in which pieces lie: page-locked memory has whole words.
cudaError_t gather_cuda(std::byte* target, std::span<const std::span<std::byte>> pieces,
                        cudaStream_t stream);

}  // namespace ooc::detail
