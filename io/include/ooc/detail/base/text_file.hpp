#pragma once

#include <filesystem>
#include <string>

namespace ooc {

/// What stands in a small file, such as those of /proc; empty if it cannot be read. A program that
/// somebody starts meanwhile does not get it open, which it would from a std::ifstream.
std::string read_text(const std::filesystem::path& path);

}  // namespace ooc
