#pragma once

#include <cstddef>
#include <cstdint>

namespace ooc::detail {

// Ranges on the timelines of NVIDIA's tools, such as Nsight Systems, with the chunk's index as
// payload. Without such a tool they cost one pointer test. They do nothing in a build without CUDA.

/// A range on the calling thread, from construction to destruction.
class NvtxRange {
 public:
  NvtxRange(const char* name, std::size_t chunk) noexcept;
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

/// Begins a range that may overlap others. Returns its handle for end_nvtx_range().
std::uint64_t begin_nvtx_range(const char* name, std::size_t chunk) noexcept;
void end_nvtx_range(std::uint64_t range) noexcept;

}  // namespace ooc::detail
