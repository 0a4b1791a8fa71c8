#pragma once

#include <cstddef>
#include <cstdint>

namespace ooc {

// Ranges on the timelines of NVIDIA's tools, such as Nsight Systems, with a chunk's index as their
// payload. They cost the test of a pointer while no such tool looks on, and do nothing in a build
// without CUDA.

/// On the calling thread, until the end of its scope.
class NvtxRange {
 public:
  NvtxRange(const char* name, std::size_t chunk) noexcept;
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

/// One that may overlap others. Returns what end_nvtx_range() takes.
std::uint64_t begin_nvtx_range(const char* name, std::size_t chunk) noexcept;
void end_nvtx_range(std::uint64_t range) noexcept;

}  // namespace ooc
