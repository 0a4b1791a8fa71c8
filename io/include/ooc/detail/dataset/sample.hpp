#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/extent.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <vector>

namespace ooc::detail {

/// Reads up to 16 pieces of 64 KiB, spread evenly over the data of a source. Uses direct I/O if
/// possible, which leaves the page cache unchanged. The offset of each piece from the first element
/// and its length are multiples of 8 bytes. Throws Error(input).
std::vector<std::byte> sample_of(const Source& source);

inline constexpr std::size_t glance_bytes = 16 * KiB;  ///< more takes longer and tells no more

/// Reads up to glance_bytes from the beginning of the data of a file, with direct I/O if possible,
/// in whole groups of eight bytes. Throws Error(input).
std::vector<std::byte> start_of(const File& file, const Extent& data);

/// The same for the first extent of a source, if that is fast and leaves the page cache unchanged:
/// with direct I/O, or where the bytes are in the page cache. Otherwise returns nothing.
std::vector<std::byte> glance(const Source& source);

}  // namespace ooc::detail
