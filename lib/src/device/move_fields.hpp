#pragma once

#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Enqueues the kernels of Decoder::move_fields().
cudaError_t move_fields_cuda(const MovedRecords& records, std::span<const FieldMove> moves,
                             cudaStream_t stream);

}  // namespace ooc::detail
