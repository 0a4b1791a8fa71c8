#pragma once

#include <cstddef>
#include <filesystem>
#include <ooc/dtype.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"

namespace ooc_run {

// Parsers for the options of output files. Each throws Error(usage).

/// Parses the path of an output file. For Arguments::get().
std::filesystem::path parse_output(const std::string& text);

/// Returns the file that -o names. Without -o, throws Error(usage) with a hint: if there are more
/// files than the usual number of `inputs`, the last one is probably the output; else `example`.
std::filesystem::path read_output_path(const Arguments& arguments, const std::string& example,
                                       std::size_t inputs);

/// Returns the type of an output: the value of `option`, else the type that the ending names (.f32,
/// .u8, .bf16). Empty if there is neither. The two must agree.
std::optional<ooc::DType> read_output_type(const Arguments& arguments, std::string_view option,
                                           const std::filesystem::path& path);

/// Refuses an ending that names a type other than `element`. In the message, `says` precedes the
/// name of `element`: "--to says", "the product is".
void require_ending(const std::filesystem::path& path, ooc::ElementType element,
                    std::string_view says);

// Like parse_output(), for the files of --plot (.svg, .png), --trace (any ending but .json) and
// --report (.html, .htm).
std::filesystem::path parse_picture(const std::string& text);
std::filesystem::path parse_timeline(const std::string& text);
std::filesystem::path parse_page(const std::string& text);

}  // namespace ooc_run
