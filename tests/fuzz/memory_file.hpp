#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "input.hpp"

namespace ooc::detail::fuzz {

/// A file in memory only.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    require(written == static_cast<ssize_t>(text.size()), "a file in memory can be written");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace ooc::detail::fuzz
