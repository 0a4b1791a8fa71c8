#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstdint>

namespace ooc::detail {

/// A contiguous range of bytes in one of the files of a source, or of the inputs of a pass.
struct Extent {
  std::uint32_t file;       ///< index of the file
  std::uint64_t offset;     ///< in the file (bytes)
  std::uint64_t bytes;      ///< length of the range
  bool cached = false;      ///< read through the page cache, which holds it
  std::uint32_t input = 0;  ///< of a pass to which it belongs

  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace ooc::detail
