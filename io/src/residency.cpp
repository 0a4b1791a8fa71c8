#include "file_system.hpp"

#include <ooc/io/residency.hpp>
#include <ooc/io/units.hpp>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ooc {
namespace {

// cachestat(2), Linux 6.5, which the C library's headers may not know yet.
constexpr long cachestat_number = 451;
struct CacheRange {
  std::uint64_t offset, bytes;
};
struct CacheStatistics {
  std::uint64_t cached_pages, dirty, writeback, evicted, recently_evicted;
};

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> counted_bytes(const File& file, const Extent& extent) {
  CacheRange range{extent.offset, extent.bytes};
  CacheStatistics statistics{};
  if (::syscall(cachestat_number, file.buffered(), &range, &statistics, 0) != 0) return {};
  const double cached =
      static_cast<double>(statistics.cached_pages) * static_cast<double>(page_size());
  return std::min(cached, static_cast<double>(extent.bytes));
}

/// mincore(2) answers for files that the caller could write, and says "all of it" for others.
bool mincore_is_honest(const File& file) {
  struct stat status {};
  if (::fstat(file.buffered(), &status) != 0) return false;
  return status.st_uid == ::geteuid() || ::access(file.path().c_str(), W_OK) == 0;
}

/// Looks at single pages, which are mapped but never touched.
std::optional<double> sampled_bytes(const File& file, const Extent& extent) {
  constexpr std::uint64_t most_samples = 64;
  constexpr std::uint64_t least_distance = 2 * MiB;
  if (!mincore_is_honest(file)) return {};
  const std::uint64_t begin = round_down(extent.offset, page_size());
  const std::uint64_t bytes = extent.offset + extent.bytes - begin;
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.buffered(), static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) return {};
  const std::uint64_t samples = std::clamp<std::uint64_t>(bytes / least_distance, 1, most_samples);
  std::uint64_t cached = 0;
  bool understood = true;
  for (std::uint64_t i = 0; i < samples && understood; ++i) {
    unsigned char resident = 0;
    std::byte* page =
        static_cast<std::byte*>(mapped) + round_down(bytes / samples * i, page_size());
    understood = ::mincore(page, 1, &resident) == 0;
    cached += resident & 1;
  }
  ::munmap(mapped, bytes);
  if (!understood) return {};
  return static_cast<double>(extent.bytes) * static_cast<double>(cached) /
         static_cast<double>(samples);
}

std::optional<double> cached_bytes(const File& file, const Extent& extent) {
  if (lies_in_memory(file.buffered())) return static_cast<double>(extent.bytes);
  const std::optional<double> counted = counted_bytes(file, extent);
  // An overlay has no pages of its own: they belong to the file below it.
  const bool is_blind = counted == 0.0 && file_system_of(file.buffered()) == OVERLAYFS_SUPER_MAGIC;
  if (counted && !is_blind) return counted;
  return sampled_bytes(file, extent);
}

}  // namespace

std::optional<double> page_cache_fraction(const Source& source) {
  if (source.bytes() == 0) return {};
  double cached = 0;
  for (const Extent& extent : source.extents()) {
    if (extent.bytes == 0) continue;
    const std::optional<double> bytes = cached_bytes(source.files()[extent.file], extent);
    if (!bytes) return {};
    cached += *bytes;
  }
  return cached / static_cast<double>(source.bytes());
}

}  // namespace ooc
