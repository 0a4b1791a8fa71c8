#pragma once

#include <ooc/detail/base/dtype.hpp>

#include <cstddef>
#include <string>

namespace ooc {

/// Adds a field behind those that a struct has; its offset is set. Returns what is wrong with the
/// field, for a message; empty if nothing is.
std::string append_field(DType& type, Field field);

/// Adds bytes that are no field. Returns the same.
std::string append_padding(DType& type, std::size_t bytes);

}  // namespace ooc
