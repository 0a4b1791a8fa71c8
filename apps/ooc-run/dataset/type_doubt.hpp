#pragma once

#include <ooc/source.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns a warning for the user if the type of raw data is doubtful, otherwise an empty string.
/// Judges by the name of the first file, and by its first bytes if glance() can read them.
/// `option`: what stands before the name of a type that the user gives.
std::string type_doubt(const ooc::Source& source, const ooc::Format& format,
                       std::string_view option = "--dtype ");

}  // namespace ooc_run
