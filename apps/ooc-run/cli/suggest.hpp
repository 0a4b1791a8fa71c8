#pragma once

#include <span>
#include <string_view>

namespace ooc_run {

/// Returns the candidate that a mistyped or shortened word probably means. Empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// Returns a hint for the name of a command in other programs, such as "stats", "describe" or
/// "cat": the commands of ooc-run that do the same. Empty for other names.
std::string_view command_for(std::string_view other_name);

/// Returns the options that do the same as an option of this name in other programs: for "rows",
/// "count shape shape-a". Empty for other names.
std::string_view options_for(std::string_view other_name);

}  // namespace ooc_run
