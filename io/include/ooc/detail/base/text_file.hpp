#pragma once

#include <filesystem>
#include <string>

namespace ooc::detail {

/// Returns the contents of a small file (for example in /proc); empty if it cannot be read. The
/// file is opened with O_CLOEXEC, unlike with std::ifstream.
std::string read_text(const std::filesystem::path& path);

}  // namespace ooc::detail
