#pragma once

#include <filesystem>
#include <string>

namespace ooc_run {

/// An SVG document as PNG, two pixels for each of its own, drawn by rsvg-convert, which is looked
/// for on the PATH. Throws Error(output) if it is missing or fails; `path` is the file that the
/// picture is for.
std::string png_of(const std::string& svg, const std::filesystem::path& path);

}  // namespace ooc_run
