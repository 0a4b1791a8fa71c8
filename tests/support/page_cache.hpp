#pragma once

#include <ooc/io/residency.hpp>
#include <ooc/io/source.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
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

/// Why a source of one file, half of which was evicted, will not be read both directly and through
/// the page cache; empty if it will.
inline std::string why_not_half_cached(const Source& source) {
  const double cached = page_cache_fraction(source).value_or(0);
  if (cached < 0.1 || cached > 0.9) return "the kernel does not tell, or does not evict";
  return source.files()[0].why_not_direct();
}

/// Reads a file, so that its pages are in the page cache.
inline void warm(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

}  // namespace ooc::test
