#pragma once

#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/source.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ooc::detail::test {

/// Evicts the pages of a file from `offset` on from the page cache, after an fsync() of the file.
/// Pages that are mapped stay.
inline void evict(const std::filesystem::path& path, std::uint64_t offset = 0) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, static_cast<off_t>(offset), 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

/// The reason for which a test with the label needs-page-cache is skipped.
inline constexpr const char* needs_page_cache =
    "needs a kernel that tells what the page cache holds and evicts it on request";

/// Returns why a source of one file, half of which was evicted, will not be read both directly and
/// through the page cache; empty if it will.
inline std::string why_not_half_cached(const Source& source) {
  const double cached = page_cache_fraction(source).value_or(0);
  if (cached < 0.1 || cached > 0.9) return needs_page_cache;
  return files_of(source)[0].why_not_direct();
}

/// Holds the first bytes of a file in the page cache while it exists, by locking them in memory.
/// Reading or mapping them is not enough: a kernel that reclaims unused memory (DAMON's pageout)
/// takes pages that are not locked. Above the limit of locked memory they are mapped only.
class HeldInPageCache {
 public:
  /// `bytes` is a multiple of the page size, or the size of the file.
  HeldInPageCache(const std::filesystem::path& path, std::size_t bytes) : bytes_(bytes) {
    const std::size_t file_bytes = std::filesystem::file_size(path);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    // Reads the whole file, since evict() would skip a later page that is still being read ahead.
    void* const memory =
        ::mmap(nullptr, file_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    ::close(descriptor);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<std::byte*>(memory);
    if (bytes < file_bytes) ::munmap(memory_ + bytes, file_bytes - bytes);
    static_cast<void>(::mlock(memory_, bytes));
  }
  explicit HeldInPageCache(const std::filesystem::path& path)
      : HeldInPageCache(path, std::filesystem::file_size(path)) {}
  ~HeldInPageCache() {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
  }
  HeldInPageCache(const HeldInPageCache&) = delete;
  HeldInPageCache& operator=(const HeldInPageCache&) = delete;

 private:
  std::size_t bytes_;
  std::byte* memory_ = nullptr;
};

}  // namespace ooc::detail::test
