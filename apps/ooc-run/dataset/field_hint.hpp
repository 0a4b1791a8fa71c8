#pragma once

#include <ooc/source.hpp>

#include <string>

namespace ooc_run {

/// Returns a hint for a source of structs where numbers are needed: how one field is read.
std::string field_hint(const ooc::Source& source);

}  // namespace ooc_run
