#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

namespace ooc::detail {

/// Builds a struct type field by field.
class StructBuilder {
 public:
  /// Appends a field and sets its offset. Returns a description of what is wrong with the field,
  /// for a message; empty if it is valid.
  std::string add(Field field);

  /// Appends bytes of padding. Returns an error description like add().
  std::string add_padding(std::size_t bytes);

  /// Returns the struct, which has no fields if none were added.
  DType take() { return std::move(type_); }

 private:
  DType type_{};
  std::unordered_set<std::string> names_{};  // since there may be very many
};

}  // namespace ooc::detail
