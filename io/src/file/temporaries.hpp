#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace ooc::detail {

/// The mode of temporaries until they get the rights of the file that they replace.
constexpr mode_t private_mode = 0600;

/// Returns the directory of a path; "." if it has none.
std::filesystem::path directory_of(const std::filesystem::path& path);

/// Returns a random name ".NAME.XXXXXXXX.ooc-tmp" in the directory of `path`, for a temporary that
/// will replace or become `path`.
std::filesystem::path random_temporary(const std::filesystem::path& path);

/// Returns the name that a temporary has while its file is kept: ".NAME.XXXXXXXX.ooc-part".
std::filesystem::path kept_name_of(const std::filesystem::path& temporary);

/// Returns the name of the temporary that becomes the kept file `kept`.
std::filesystem::path temporary_of(const std::filesystem::path& kept);

/// True if a name may be that of a kept file of `path`.
bool is_kept_name(const std::filesystem::path& path, std::string_view name);

/// Locks a kept file, which another run may use. Waits for a while for a process that was killed
/// just now. False if it stays locked.
bool lock_kept(int descriptor);

/// Locks a temporary to mark it as in use. False if it has no name any more: another run may have
/// removed it before it was locked.
bool lock_temporary(int descriptor);

/// Creates a temporary and locks it. Returns its descriptor, or -1 with errno: EEXIST also if
/// another run has removed it before it was locked, so that another name is to be tried.
int create_temporary(const std::filesystem::path& temporary, mode_t mode);

/// Removes temporaries of `path` that killed runs have left. Temporaries of running processes are
/// locked. Those of a process killed just now stay locked until the kernel has ended its writes,
/// some milliseconds later.
void remove_stale_temporaries(const std::filesystem::path& path);

}  // namespace ooc::detail
