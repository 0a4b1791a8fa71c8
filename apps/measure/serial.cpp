#include "measure/serial.hpp"

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "measure/figures.hpp"

namespace ooc::detail::measure {

namespace {

/// Reads exactly `bytes`. Throws Error.
void read(const File& file, std::uint64_t offset, std::byte* memory, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const DiskCall waits;
    const ssize_t got = repeat_interrupted([&] {
      return pread(file.buffered(), memory + done, bytes - done, static_cast<off_t>(offset + done));
    });
    if (got < 0)
      throw Error::from_errno(ErrorKind::input, "read", errno, file.path(), offset + done);
    if (got == 0) throw Error(ErrorKind::input_changed, file.path().string() + ": became shorter");
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

SerialPass::SerialPass(Device& device, KernelKind kind, std::size_t chunk_bytes, bool pinned)
    : stream_(device.make_stream()), kernel_(make_chunk_kernel(kind, *stream_)) {
  host_ = Buffer(pinned ? static_cast<MemoryResource&>(device.host_memory()) : heap_memory(),
                 chunk_bytes);
  std::memset(host_.data(), 0, chunk_bytes);  // fault the pages in before the clock starts
  if (!device.reads_host_memory()) there_ = Buffer(device.device_memory(), chunk_bytes);
}

double SerialPass::seconds(const File& file, std::uint64_t bytes) {
  const Clock clock;
  for (std::uint64_t offset = 0; offset < bytes; offset += host_.size()) {
    const std::size_t chunk = std::min<std::uint64_t>(host_.size(), bytes - offset);
    read(file, offset, host_.data(), chunk);
    const std::byte* data = host_.data();
    if (there_.size() != 0) {
      stream_->copy(there_.data(), host_.data(), chunk);
      stream_->synchronize();
      data = there_.data();
    }
    kernel_->run(*stream_, {data, chunk});
    stream_->synchronize();
  }
  return clock.seconds();
}

}  // namespace ooc::detail::measure
