#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

// Readers for the small files of /proc and /sys.

/// Returns the first line, without spaces at its ends. Empty if there is no such file.
std::string first_line(const std::filesystem::path& path);

/// Returns the number on the first line. Empty if that line is not an integer.
std::optional<std::int64_t> number_in(const std::filesystem::path& path);

/// Returns the rest of the first line that begins with `key`, without colons and spaces around it:
/// "1024 kB" for "MemTotal" in /proc/meminfo. Empty if there is no such line.
std::string value_of(const std::filesystem::path& path, const std::string& key);

}  // namespace ooc_run
