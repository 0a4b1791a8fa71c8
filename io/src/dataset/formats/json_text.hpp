#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace ooc::detail {

/// Parses JSON whose values are at most 32 levels deep, and in which no object has a key twice.
/// Leaves out the values of `skipped` keys of the outermost object. Throws Error(bad_input), which
/// names the file.
nlohmann::json parse_json(std::string_view text, std::span<const std::string_view> skipped,
                          const std::filesystem::path& file);

}  // namespace ooc::detail
