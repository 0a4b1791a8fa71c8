#pragma once

#include <ooc/io/language.hpp>

#include <cstdint>

namespace ooc {

/// A contiguous range of bytes in one of a source's files.
struct Extent {
  std::uint32_t file;
  std::uint64_t offset;
  std::uint64_t bytes;
  bool cached = false;  // to be read through the page cache, where it lies

  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace ooc
