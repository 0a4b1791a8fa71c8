#pragma once

#include <ooc/io/source.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace ooc {

/// The share of a source's bytes that lie in the page cache, 0 to 1, or nothing if the kernel does
/// not tell. Reads no data and costs well under a millisecond a gigabyte: cachestat(2), and where
/// that is missing or blind (before Linux 6.5; overlay file systems) a sample of the file's pages
/// by mincore(2).
std::optional<double> page_cache_fraction(const Source& source);

/// The same of a part of one file; `extent.file` does not matter.
std::optional<double> page_cache_fraction(const File& file, const Extent& extent);

/// The share of a source's bytes that were never written, 0 to 1: holes of sparse files, which read
/// as zeros without a disk. Where a file system does not tell, or has thousands of them in a file,
/// the rest counts as written. Reads no data.
double hole_fraction(const Source& source);

/// Whether each piece of `piece_bytes` of the source's sequence of bytes, the last may be shorter,
/// lies there, most of it. Where the kernel does not tell, it does not. Looks closer only where a
/// range is cached in part, and at no less than 8 MiB or a 65,536th of the source at once.
std::vector<bool> cached_pieces(const Source& source, std::uint64_t piece_bytes);

}  // namespace ooc
