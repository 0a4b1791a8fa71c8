#pragma once

#include <ooc/detail/content/file_signature.hpp>
#include <ooc/source.hpp>

#include <filesystem>
#include <optional>
#include <span>

namespace ooc::detail {

/// Opens files as open() does, but refuses no format and guesses no type: data whose type is not
/// known are read as bytes.
Source open_unjudged(std::span<const std::filesystem::path> paths, const Format& format);

/// Returns the foreign format of a raw file, by its first bytes; nothing if it cannot be read.
std::optional<FileSignature> signature_of(const File& file);

/// False if open() refuses a file of this format because of its first bytes.
bool holds_numbers(const File& file, const Format& format);

/// True if the data of a raw file are taken for bytes only because neither the format nor the
/// extension gives a type.
bool type_is_default(const File& file, const Format& format);

}  // namespace ooc::detail
