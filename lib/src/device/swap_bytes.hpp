#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ooc::detail {

/// Enqueues a kernel that reverses the bytes of each element (2, 4 or 8 bytes) of an aligned
/// array. `bytes`: size of the array.
cudaError_t swap_bytes_cuda(void* data, std::size_t bytes, std::size_t element_bytes,
                            cudaStream_t stream);

/// Enqueues the kernel of Decoder::make_bools().
cudaError_t make_bools_cuda(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows,
                            cudaStream_t stream);

/// Looks up a kernel on the current device. Fails if this build has no code for the device.
cudaError_t find_device_code();

}  // namespace ooc::detail
