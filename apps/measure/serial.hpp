#pragma once

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/file.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>

#include "measure/kernel.hpp"

namespace ooc::measure {

/// What a straightforward program does: read a chunk through the page cache, copy it to the device,
/// run the kernel, one after another on one thread. On the CPU there is nothing to copy.
class SerialPass {
 public:
  /// `pinned`: into page-locked memory, as the pipeline's; else into what malloc gives. The device
  /// must outlive this and be bound to the calling thread.
  SerialPass(Device& device, KernelKind kind, std::size_t chunk_bytes, bool pinned);

  /// Seconds that the first `bytes` of a file take. Throws Error(input).
  double seconds(const File& file, std::uint64_t bytes);

 private:
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<ChunkKernel> kernel_;
  Buffer host_;
  Buffer there_;  // empty on the CPU
};

}  // namespace ooc::measure
