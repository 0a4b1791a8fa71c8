#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ooc_run {

/// How many single-character insertions, deletions, replacements and swaps of neighbours turn one
/// word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidate that was probably meant by a mistyped or shortened word; empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// Which commands do what other programs have a command of this name for: "stats", "describe",
/// "cat". Empty if there is none.
std::string_view command_for(std::string_view other_name);

}  // namespace ooc_run
