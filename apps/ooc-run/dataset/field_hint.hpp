#pragma once

#include <ooc/source.hpp>

#include <string>

namespace ooc_run {

/// Returns a hint: the Python command that saves one field of a source of structs. `format`: with
/// which it was opened.
std::string field_hint(const ooc::Source& source, const ooc::Format& format);

}  // namespace ooc_run
