#pragma once

#include <filesystem>
#include <ooc/io/element_type.hpp>
#include <ooc/io/source.hpp>
#include <optional>
#include <string>

namespace ooc_run {

/// False if a file is of a format that is known by its first bytes, or text.
bool holds_numbers(const ooc::File& file);

/// Throws Error(bad_input) if a raw file whose type is not given is of a format that is known by
/// its first bytes, or text.
void require_numbers(const ooc::File& file);

/// The same of a file that could not be opened as a dataset, or not at all: then there is nothing
/// to say.
void require_numbers(const std::filesystem::path& path);

/// Whether the type of raw data is merely the one that is taken for want of a better.
bool type_is_default(const ooc::Source& source, const ooc::Format& format);

/// What speaks against the type of raw data: a sentence for the user, or empty. Looks at the first
/// file: at its name, and at its first bytes unless reading them might take long.
std::string type_doubt(const ooc::Source& source, const ooc::Format& format);

}  // namespace ooc_run
