#pragma once

#include <ooc/detail/device/decoder.hpp>
#include <ooc/memory.hpp>

#include <cuda_runtime_api.h>

namespace ooc::detail {

/// Enqueues the work of Decoder::group(). Takes from `temporaries`, for each record: 2 bytes if it
/// has 1, 2, 4 or 8 bytes and there are less than 256 groups, and its own size and 2 bytes more if
/// there are more groups; 10 bytes if it has another size.
cudaError_t group_records_cuda(const GroupedRecords& records, MemoryResource& temporaries,
                               cudaStream_t stream);

}  // namespace ooc::detail
