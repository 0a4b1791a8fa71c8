#pragma once

#include <ooc/detail/file/file.hpp>

#include <cstdint>
#include <vector>

#include "dataset/formats/formats.hpp"
#include "input.hpp"

namespace ooc::detail::fuzz {

/// Requires that an array has as many bytes as its shape says, and no more than its file.
inline void require_shape(const StoredArray& found, const File& file) {
  unsigned __int128 bytes = size_of(found.type);
  bool empty = false;
  for (const std::uint64_t length : found.shape) empty = empty || length == 0;
  for (const std::uint64_t length : found.shape) {
    // `bytes` cannot wrap around: it is below 2^64 before each step, or the rule would be broken.
    if (!empty) require((bytes *= length) <= file.size(), "no more elements than fit in the file");
  }
  require(found.bytes == (empty ? 0 : bytes), "as many bytes as the shape says");
}

/// Requires that arrays lie in the file behind its first `header` bytes, do not have more bytes
/// than there are and, if they can be read, have the size of their shape.
inline void require_places(const std::vector<StoredArray>& found, const File& file,
                           std::uint64_t header) {
  std::uint64_t all = 0;
  for (const StoredArray& array : found) {
    require(array.offset >= header && array.offset <= file.size() &&
                array.bytes <= file.size() - array.offset,
            "an array is in the file");
    all += array.bytes;
    if (array.why_not.empty()) require_shape(array, file);
  }
  require(all == 0 || all <= file.size() - header, "arrays do not overlap");
}

}  // namespace ooc::detail::fuzz
