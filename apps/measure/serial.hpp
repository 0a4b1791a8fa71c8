#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "measure/kernel.hpp"

namespace ooc::detail::measure {

/// A pass without overlap, as in a straightforward program: one thread reads a chunk through the
/// page cache, copies it to the device and runs the kernel. On the CPU there is no copy.
class SerialPass {
 public:
  /// `pinned`: read into page-locked memory, as the pipeline does; else into pageable memory. The
  /// device must outlive this and be bound to the calling thread.
  SerialPass(Device& device, KernelKind kind, std::size_t chunk_bytes, bool pinned);

  /// Returns the seconds of a pass over the first `bytes` of a file. Throws Error(input).
  double seconds(const File& file, std::uint64_t bytes);

 private:
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ChunkKernel> kernel_;
  Buffer host_;
  Buffer there_;  // in device memory; empty on the CPU
};

}  // namespace ooc::detail::measure
