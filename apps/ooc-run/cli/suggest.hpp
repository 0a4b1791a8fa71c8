#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ooc_run {

/// Returns the number of single-character insertions, deletions, replacements and swaps of
/// neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// Returns the candidate that a mistyped or shortened word probably means. Empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// Returns a hint for the name of a command that other programs have, such as "stats", "describe"
/// or "cat": the commands here that do the same. Empty for other names.
std::string_view command_for(std::string_view other_name);

}  // namespace ooc_run
