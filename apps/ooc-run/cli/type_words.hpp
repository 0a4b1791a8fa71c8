#pragma once

#include <filesystem>
#include <ooc/dtype.hpp>
#include <optional>
#include <string>

namespace ooc_run {

// Element types as words: on a command line, in file names and in messages.

/// Returns, for example, "float32" or "float32, bytes swapped".
std::string describe_type(const ooc::DType& type);

/// Returns a type as the value of --dtype, quoted for a shell where necessary: "f4", "'>f4'".
std::string dtype_word(const ooc::DType& type);

/// True if the values of a type are floating-point numbers.
bool is_float(ooc::ElementType type);

/// Returns the type that the extension of a file probably means, although it is not one of the
/// known extensions: float64 for ".f8". Empty if the extension is not the code of a type.
std::optional<ooc::DType> type_meant_by_ending(const std::filesystem::path& path);

}  // namespace ooc_run
