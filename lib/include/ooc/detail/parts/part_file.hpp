#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/file_lock.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace ooc::detail {

/// Returns the identity of a file. Throws Error(input).
FileIdentity identity_of(const File& file);

/// Like write_part_file(), but returns a lock on the file, which has been held since the file was
/// created.
FileLock write_locked(const std::filesystem::path& path, const PartFile& file, bool replace);

/// Returns the bytes of a part file. Throws Error(usage) if a member is not JSON.
std::vector<std::byte> bytes_of(const PartFile& file);
/// Parses the bytes of a part file. Throws as read_part_file(); `path` is for messages.
PartFile part_file_in(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace ooc::detail
