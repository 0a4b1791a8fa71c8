#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace ooc {

/// Returns the product of `first` and the lengths of a shape; empty if it exceeds 64 bits.
inline std::optional<std::uint64_t> product_of(std::span<const std::uint64_t> lengths,
                                               std::uint64_t first = 1) {
  if (std::ranges::find(lengths, std::uint64_t{0}) != lengths.end()) return 0;
  for (const std::uint64_t length : lengths) {
    if (__builtin_mul_overflow(first, length, &first)) return std::nullopt;
  }
  return first;
}

}  // namespace ooc
