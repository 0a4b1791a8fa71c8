#pragma once

#include <algorithm>
#include <cstdint>

namespace ooc::detail {

/// Returns how much of free device memory is for data that stay: all but the buffers of a pass,
/// and a tenth or 256 MiB, whichever is more, for operators and other programs (bytes).
constexpr std::uint64_t room_for_resident(std::uint64_t free_bytes, std::uint64_t buffer_bytes) {
  const std::uint64_t others = std::max(free_bytes / 10, std::uint64_t{256} << 20);
  return free_bytes > others + buffer_bytes ? free_bytes - others - buffer_bytes : 0;
}

}  // namespace ooc::detail
