#include "file/file_system.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>

namespace ooc::detail {
namespace {

// cachestat(2) is new in Linux 6.5; the C library's headers may not declare it.
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

/// True if mincore(2) reports real residency, which it does for files that the caller owns or may
/// write. For others it reports every page as resident.
bool mincore_is_honest(const File& file) {
  struct stat status {};
  if (::fstat(file.buffered(), &status) != 0) return false;
  return status.st_uid == ::geteuid() || ::access(file.path().c_str(), W_OK) == 0;
}

/// Estimates the cached bytes from a sample of pages, which are mapped but never accessed.
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
  if (file.remote() != nullptr) return 0;
  if (file.memory() != nullptr) return static_cast<double>(extent.bytes);
  if (file.encoded() != nullptr) return {};
  if (is_tmpfs(file.buffered())) return static_cast<double>(extent.bytes);
  const std::optional<double> counted = counted_bytes(file, extent);
  // An overlay file system has no pages of its own: they belong to the file in the layer below.
  const bool is_blind = counted == 0.0 && file_system_of(file.buffered()) == OVERLAYFS_SUPER_MAGIC;
  if (counted && !is_blind) return counted;
  return sampled_bytes(file, extent);
}

/// Returns the next position at or after `at` of data or of a hole (`whence`: SEEK_DATA or
/// SEEK_HOLE); `end` if there is none before it, or if the file system does not report it.
std::uint64_t seek(const File& file, std::uint64_t at, int whence, std::uint64_t end) {
  const DiskCall waits;
  const off_t found = ::lseek(file.buffered(), static_cast<off_t>(at), whence);
  if (found < 0) return end;
  return std::clamp(static_cast<std::uint64_t>(found), at, end);
}

/// True if a file may have holes. Avoids the search for them, which is slow on some file systems:
/// tmpfs walks over all pages.
bool may_have_holes(const File& file) {
  constexpr std::uint64_t unit = 512;  // unit of st_blocks on all file systems
  struct stat status {};
  if (is_tmpfs(file.buffered()) || ::fstat(file.buffered(), &status) != 0) return false;
  return static_cast<std::uint64_t>(status.st_blocks) * unit <
         static_cast<std::uint64_t>(status.st_size);
}

double hole_bytes(const File& file, const Extent& extent) {
  if (file.buffered() < 0 || !may_have_holes(file)) return 0;
  constexpr int most_holes = 4096;
  const std::uint64_t end = extent.offset + extent.bytes;
  std::uint64_t bytes = 0;
  std::uint64_t at = extent.offset;
  for (int i = 0; i < most_holes && at < end; ++i) {
    const std::uint64_t hole = seek(file, at, SEEK_HOLE, end);
    if (hole == end) break;
    at = seek(file, hole, SEEK_DATA, end);  // fails with ENXIO in a hole at the end of the file
    bytes += at - hole;
  }
  return static_cast<double>(bytes);
}

/// Appends the stretches of an extent. Halves those of more than `least_bytes` that are cached in
/// part.
void append_runs(const File& file, const Extent& extent, std::uint64_t least_bytes,
                 std::vector<CachedRun>& runs) {
  const double share = cached_bytes(file, extent).value_or(0) / static_cast<double>(extent.bytes);
  const bool is_uniform = share < 0.001 || share > 0.999;
  const std::uint64_t half = round_up(extent.bytes / 2, page_bytes);
  if (is_uniform || extent.bytes <= least_bytes || half >= extent.bytes) {
    runs.push_back({extent.bytes, share});
    return;
  }
  append_runs(file, {extent.file, extent.offset, half}, least_bytes, runs);
  append_runs(file, {extent.file, extent.offset + half, extent.bytes - half}, least_bytes, runs);
}

/// Returns a fraction of the bytes of a source. `bytes_of`: returns these bytes of an extent, if
/// they are known. Of very many extents it asks for one in each of equal groups, so that it takes
/// milliseconds. It chooses that at random, since extents may have a period: files that take turns.
std::optional<double> mean_of(
    const Source& source,
    const std::function<std::optional<double>(const File&, const Extent&)>& bytes_of) {
  constexpr std::size_t most_extents = 16384;
  const StorageMap& storage = storage_of(source);
  const std::size_t group = divide_up(storage.size(), most_extents);
  std::mt19937 random;
  double found = 0, all = 0;
  for (std::size_t i = 0; i < storage.size(); i += group) {
    const std::size_t others = std::min(group, storage.size() - i);
    const Extent extent = storage[i + random() % others];
    const std::optional<double> bytes = bytes_of(files_of(source)[extent.file], extent);
    if (!bytes) return {};
    found += *bytes;
    all += static_cast<double>(extent.bytes);
  }
  return all == 0 ? std::nullopt : std::optional(found / all);
}

}  // namespace

std::optional<double> page_cache_fraction(const Source& source) {
  return mean_of(source, cached_bytes);
}

std::optional<double> page_cache_fraction(const File& file, const Extent& extent) {
  if (extent.bytes == 0) return {};
  const std::optional<double> bytes = cached_bytes(file, extent);
  if (!bytes) return {};
  return *bytes / static_cast<double>(extent.bytes);
}

double hole_fraction(const Source& source) {
  return mean_of(source, hole_bytes).value_or(0);
}

std::vector<CachedRun> cached_runs(const Source& source) {
  const std::uint64_t least_bytes = std::max(8 * MiB, source.bytes() / 65536);
  std::vector<CachedRun> runs;
  for (const Extent& extent : storage_of(source)) {
    append_runs(files_of(source)[extent.file], extent, least_bytes, runs);
  }
  return runs;
}

std::vector<bool> cached_pieces(std::span<const CachedRun> runs, std::uint64_t piece_bytes) {
  std::vector<bool> pieces;
  double cached = 0;           // bytes of the current piece
  std::uint64_t in_piece = 0;  // bytes of it so far
  const auto end_piece = [&] {
    pieces.push_back(cached > static_cast<double>(in_piece) / 2);
    cached = 0;
    in_piece = 0;
  };
  for (CachedRun run : runs) {
    while (run.bytes != 0) {
      const std::uint64_t taken = std::min(run.bytes, piece_bytes - in_piece);
      cached += run.share * static_cast<double>(taken);
      in_piece += taken;
      run.bytes -= taken;
      if (in_piece == piece_bytes) end_piece();
    }
  }
  if (in_piece != 0) end_piece();
  return pieces;
}

}  // namespace ooc::detail
