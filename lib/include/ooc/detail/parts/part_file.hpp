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

/// Does what write_part_file() does. Returns a lock on the file, which it has from its first moment
/// on.
FileLock write_locked(const std::filesystem::path& path, const PartFile& file, bool replace);

/// Returns the bytes of such a file. Throws Error(usage) if a member is not JSON.
std::vector<std::byte> bytes_of(const PartFile& file);
/// Returns the file that has these bytes. Throws as read_part_file(); `path` is for messages.
PartFile part_file_in(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace ooc::detail
