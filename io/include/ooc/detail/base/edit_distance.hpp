#pragma once

#include <cstddef>
#include <string_view>

namespace ooc::detail {

/// Returns the number of single-character insertions, deletions, replacements and swaps of
/// neighbours that turn one text into the other (optimal string alignment distance). Compares
/// bytes. Takes time proportional to the product of the lengths.
std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace ooc::detail
