#pragma once

#include <ooc/source.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ooc::detail {

/// Returns the fraction of a source's bytes in the page cache, 0 to 1; empty if the kernel does not
/// report it. Reads no data and takes well under a millisecond per gigabyte. Uses cachestat(2);
/// where that is missing (before Linux 6.5) or sees nothing (overlay file systems), samples the
/// file's pages with mincore(2).
std::optional<double> page_cache_fraction(const Source& source);

/// As above, for a part of one file; `extent.file` is ignored.
std::optional<double> page_cache_fraction(const File& file, const Extent& extent);

/// Returns the fraction of a source's bytes that are holes of sparse files, 0 to 1. Holes read as
/// zeros without disk access. Bytes count as written if the file system does not report holes, and
/// after the first few thousand holes of an extent. Reads no data.
double hole_fraction(const Source& source);

/// A stretch of a source, of which a share (0 to 1) is in the page cache.
struct CachedRun {
  std::uint64_t bytes;
  double share;
};

/// Returns the stretches of a source, from its beginning to its end. Refines only those that are
/// cached in part, down to the larger of 8 MiB and 1/65,536 of the source. What the kernel does not
/// report counts as not cached. Reads no data.
std::vector<CachedRun> cached_runs(const Source& source);

/// For each piece of `piece_bytes` of a source (the last may be shorter), returns true if more than
/// half of it is in the page cache.
std::vector<bool> cached_pieces(std::span<const CachedRun> runs, std::uint64_t piece_bytes);

}  // namespace ooc::detail
