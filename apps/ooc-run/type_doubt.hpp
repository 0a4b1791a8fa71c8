#pragma once

#include <filesystem>
#include <ooc/io/element_type.hpp>
#include <ooc/io/source.hpp>
#include <optional>
#include <string>

namespace ooc_run {

/// Whether the type of raw data is merely the one that is taken for want of a better.
bool type_is_default(const ooc::Source& source, const ooc::Format& format);

/// The type that an ending was probably meant to name. Endings count bits, as .f32 does; who writes
/// .f4 or .float32 thinks of NumPy's names.
std::optional<ooc::DType> type_meant_by_ending(const std::filesystem::path& path);

/// What speaks against such a type: a sentence for the user, or empty. Looks at the first file: at
/// its name, and at its first bytes unless reading them might take long.
std::string type_doubt(const ooc::Source& source, const ooc::Format& format);

}  // namespace ooc_run
