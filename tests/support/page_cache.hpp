#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace ooc::test {

/// Puts the pages of a file from `offset` on out of the page cache; they must have been written to
/// the disk for that.
inline void evict(const std::filesystem::path& path, std::uint64_t offset = 0) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, static_cast<off_t>(offset), 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

/// Reads a file, so that its pages are in the page cache.
inline void warm(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

}  // namespace ooc::test
