#pragma once

#include <filesystem>

namespace ooc {

/// Returns the directory of a path; "." if it has none.
std::filesystem::path directory_of(const std::filesystem::path& path);

/// Returns a random name ".NAME.XXXXXXXX.ooc-tmp" in the directory of `path`, for a temporary that
/// will replace or become `path`.
std::filesystem::path random_temporary(const std::filesystem::path& path);

/// Locks a temporary to mark it as in use. False if it has no name any more: another run may have
/// removed it before it was locked.
bool lock_temporary(int descriptor);

/// Removes temporaries of `path` that killed runs have left. Temporaries of running processes are
/// locked. Those of a process killed just now stay locked until the kernel has ended its writes,
/// some milliseconds later.
void remove_stale_temporaries(const std::filesystem::path& path);

}  // namespace ooc
