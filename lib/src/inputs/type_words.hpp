#pragma once

#include <ooc/dtype.hpp>

#include <string>

namespace ooc::detail {

/// Returns a type in words for messages: "float32" or, for a struct, its fields in braces.
inline std::string words_for(const DType& type) {
  return type.is_struct() ? code_of(type) : std::string(name_of(type.element));
}

}  // namespace ooc::detail
