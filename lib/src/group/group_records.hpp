#pragma once

#include <ooc/detail/device/decoder.hpp>

namespace ooc::detail {

/// Does the work of Decoder::group() in host memory, on the calling thread.
void group_records_cpu(const GroupedRecords& records);

}  // namespace ooc::detail
