#pragma once

#include <ooc/detail/file/file.hpp>

#include <cstdint>

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

}  // namespace ooc::detail::fuzz
