#pragma once

#include <cstddef>
#include <filesystem>
#include <ooc/io/element_type.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"

namespace ooc_run {

// What the commands that write a file have in common. Each throws Error(usage).

/// The file that an option names, a parse function for Arguments::get().
std::filesystem::path parse_output(const std::string& text);

/// The file that -o names; `example` is what to tell a user who gave none. A word behind the
/// `inputs` that a command commonly has is probably the output.
std::filesystem::path read_output_path(const Arguments& arguments, const std::string& example,
                                       std::size_t inputs);

/// The type of an output: what `option` says, else what its ending names (.f32, .u8, .bf16), if it
/// does. The two must agree.
std::optional<ooc::DType> read_output_type(const Arguments& arguments, std::string_view option,
                                           const std::filesystem::path& path);

/// Refuses an ending that names another type than the file will hold. `says` introduces that one:
/// "--to says", "the product is".
void require_ending(const std::filesystem::path& path, ooc::ElementType element,
                    std::string_view says);

// The files of --plot (.svg, .png), --trace (anything but .json) and --report (.html, .htm): parse
// functions as parse_output() is one.
std::filesystem::path parse_picture(const std::string& text);
std::filesystem::path parse_timeline(const std::string& text);
std::filesystem::path parse_page(const std::string& text);

}  // namespace ooc_run
