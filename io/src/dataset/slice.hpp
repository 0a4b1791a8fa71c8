#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "dataset/formats/formats.hpp"

namespace ooc::detail {

/// Cuts the name of an array with a slice in brackets behind it, "weight[2:4]", into both. The
/// slice is empty if there is none, or if one of the arrays has the whole name.
std::pair<std::string_view, std::string_view> cut_slice(std::string_view name,
                                                        std::span<const StoredArray> arrays);

/// Returns the part of an array that a slice selects, as NumPy does: "[2:4]" has its rows 2 and 3,
/// "[-1]" is its last row. Its name has the slice at the end. Throws Error: `usage` for a text that
/// is no slice, and for elements that are not stored one after another; `bad_input` for an index
/// that the array does not have, and for data that are not whole elements. Elements that are
/// equally far apart, as those of a column, are parts of records (see StoredArray).
StoredArray slice_of(StoredArray array, std::string_view slice, const std::filesystem::path& path);

}  // namespace ooc::detail
