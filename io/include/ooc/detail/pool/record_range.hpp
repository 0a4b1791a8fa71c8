#pragma once

#include <ooc/detail/base/language.hpp>

#include <cstdint>

namespace ooc {

/// Consecutive records.
struct RecordRange {
  std::uint64_t first = 0;  ///< index of the first one
  std::uint64_t count = 0;  ///< how many there are

  /// Returns the index after the last one.
  std::uint64_t end() const noexcept { return first + count; }

  friend bool operator==(const RecordRange&, const RecordRange&) = default;
};

}  // namespace ooc
