#pragma once

#include <ooc/io/source.hpp>

#include <optional>

namespace ooc {

/// The share of a source's bytes that lie in the page cache, 0 to 1, or nothing if the kernel does
/// not tell. Reads no data and costs well under a millisecond a gigabyte: cachestat(2), and where
/// that is missing or blind (before Linux 6.5; overlay file systems) a sample of the file's pages
/// by mincore(2).
std::optional<double> page_cache_fraction(const Source& source);

}  // namespace ooc
