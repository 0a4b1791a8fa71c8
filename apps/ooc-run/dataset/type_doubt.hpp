#pragma once

#include <filesystem>
#include <ooc/detail/base/element_type.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <string>

namespace ooc_run {

/// False if the first bytes of a file show a foreign format or text.
bool holds_numbers(const ooc::File& file);

/// Throws Error(bad_input) if the first bytes of a file show a foreign format or text. To be called
/// for raw files whose type the user has not given.
void require_numbers(const ooc::File& file);

/// Checks a file that could not be opened as a dataset. Does nothing if it cannot be opened at all.
void require_numbers(const std::filesystem::path& path);

/// True if the data are raw and neither the user nor the ending of the file gives their type.
bool type_is_default(const ooc::Source& source, const ooc::Format& format);

/// Returns a warning for the user if the type of raw data is doubtful, otherwise an empty string.
/// Judges by the name of the first file, and by its first bytes if glance() can read them.
std::string type_doubt(const ooc::Source& source, const ooc::Format& format);

}  // namespace ooc_run
