#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

// What stands in the small files in which the kernel keeps its facts.

/// Without spaces at its ends; empty if there is no such file.
std::string first_line(const std::filesystem::path& path);

/// Nothing if it is not a number.
std::optional<std::int64_t> number_in(const std::filesystem::path& path);

/// What follows `key` at the beginning of a line, without colons and spaces: "1024 kB" for
/// "MemTotal" in /proc/meminfo. Empty if there is no such line.
std::string value_of(const std::filesystem::path& path, const std::string& key);

}  // namespace ooc_run
