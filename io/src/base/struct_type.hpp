#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

namespace ooc::detail {

/// A struct that is read field by field.
class StructBuilder {
 public:
  /// Adds a field behind the others; its offset is set. Returns what is wrong with the field, for a
  /// message; empty if nothing is.
  std::string add(Field field);

  /// Adds bytes that are no field. Returns the same.
  std::string add_padding(std::size_t bytes);

  /// Returns the struct, which has no fields if none were added.
  DType take() { return std::move(type_); }

 private:
  DType type_{};
  std::unordered_set<std::string> names_{};  // since there may be very many
};

}  // namespace ooc::detail
