#pragma once

#include <ooc/error.hpp>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc::detail {

/// Returns the error for an output of this path, with a hint for the user. `offset`: of a write.
Error output_error(const std::string& verb, const std::filesystem::path& path,
                   int errno_value = errno, std::optional<std::uint64_t> offset = {});

/// Returns the error for a path that is not to be replaced.
Error exists_error(const std::filesystem::path& path);

/// Throws Error(output) if `path` does not name a regular file, or exists and `replace` is false.
/// `target`: `path` with links resolved.
void require_replaceable(const std::filesystem::path& path, const std::filesystem::path& target,
                         bool replace);

}  // namespace ooc::detail
