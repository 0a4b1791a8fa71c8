#pragma once

#include <ooc/io/language.hpp>

#include <cstdint>

namespace ooc {

/// A contiguous range of bytes in one of a source's files.
struct Extent {
  std::uint32_t file;
  std::uint64_t offset;
  std::uint64_t bytes;
  bool cached = false;  // read through the page cache, which holds it

  friend bool operator==(const Extent&, const Extent&) = default;
};

}  // namespace ooc
