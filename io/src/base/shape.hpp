#pragma once

#include <ooc/dtype.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ooc::detail {

/// Returns the product of `first` and the lengths of a shape; empty if it exceeds 64 bits.
inline std::optional<std::uint64_t> product_of(std::span<const std::uint64_t> lengths,
                                               std::uint64_t first = 1) {
  if (std::ranges::find(lengths, std::uint64_t{0}) != lengths.end()) return 0;
  for (const std::uint64_t length : lengths) {
    if (__builtin_mul_overflow(first, length, &first)) return std::nullopt;
  }
  return first;
}

/// Returns the number of elements of a row of data of that shape; empty if it exceeds 64 bits.
inline std::optional<std::uint64_t> columns_of(std::span<const std::uint64_t> shape) {
  return product_of(shape.subspan(std::min<std::size_t>(shape.size(), 1)));
}

/// Returns the elements of a type, for messages.
inline std::string elements_of(const DType& type) {
  if (!type.is_struct()) return std::string(name_of(type.element)) + " elements";
  return "structs of " + std::to_string(type.struct_bytes) + " bytes";
}

}  // namespace ooc::detail
