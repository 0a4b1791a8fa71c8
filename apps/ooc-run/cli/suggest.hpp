#pragma once

#include <span>
#include <string_view>

namespace ooc_run {

/// Returns the candidate that a mistyped or shortened word probably means. Empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// Returns a hint for the name of a command that other programs have, such as "stats", "describe"
/// or "cat": the commands here that do the same. Empty for other names.
std::string_view command_for(std::string_view other_name);

/// Returns options that do what an option of this name does in other programs: "rows" is "count
/// shape shape-a". Empty for other names.
std::string_view options_for(std::string_view other_name);

}  // namespace ooc_run
