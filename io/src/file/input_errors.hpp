#pragma once

#include <ooc/error.hpp>

#include <filesystem>
#include <string>

namespace ooc::detail {

/// Returns the error for an input that another program wrote to while it was read. `why`: the
/// evidence.
Error changed_error(const std::filesystem::path& path, std::string why);

}  // namespace ooc::detail
