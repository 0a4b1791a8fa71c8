#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <span>
#include <string>

#include "result/json.hpp"

namespace ooc_run {

/// Describes the arrays of a file that names them.
Json describe_arrays(std::span<const ooc::detail::StoredArray> arrays);

/// Returns a table of the first arrays: sizes, types, shapes and names.
std::string list_of_arrays(std::span<const ooc::detail::StoredArray> arrays);

/// Returns the lengths of a shape: "512 x 384".
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace ooc_run
