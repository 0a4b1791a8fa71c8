#pragma once

#include <ooc/dtype.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace ooc::detail {

/// Returns the value that elements have which are not stored, as it would be stored. Empty if an
/// element cannot have that value.
std::optional<std::vector<std::byte>> parse_fill_value(const nlohmann::json& value,
                                                       const DType& type);

}  // namespace ooc::detail
