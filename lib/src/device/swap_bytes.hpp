#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ooc {

/// Enqueues the reversal of the bytes of each element (2, 4 or 8 bytes) of an aligned array.
cudaError_t swap_bytes_cuda(void* data, std::size_t bytes, std::size_t element_bytes,
                            cudaStream_t stream);

/// Looks for the code of a kernel, which the current device must have: fails if this build has none
/// for it.
cudaError_t find_device_code();

}  // namespace ooc
