#pragma once

#include <filesystem>
#include <string>

namespace ooc_run {

/// Converts an SVG document to PNG, at twice its size, with rsvg-convert from the PATH. Throws
/// Error(output) if the program is missing or fails. `path`: the output file, for messages.
std::string png_of(const std::string& svg, const std::filesystem::path& path);

}  // namespace ooc_run
