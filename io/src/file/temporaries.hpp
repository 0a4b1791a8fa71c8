#pragma once

#include <filesystem>

namespace ooc {

std::filesystem::path directory_of(const std::filesystem::path& path);

/// A name for what is yet to become `path`, where no file can do without one:
/// ".NAME.XXXXXXXX.ooc-tmp" beside it.
std::filesystem::path random_temporary(const std::filesystem::path& path);

/// Tells others that a temporary is in use. False if it has no name, which one of them may have
/// taken just before.
bool lock_temporary(int descriptor);

/// Removes those that killed runs have left. Those of a living one are locked, and so, for some
/// milliseconds, are those of one killed just now whose writes the kernel has yet to end.
void remove_stale_temporaries(const std::filesystem::path& path);

}  // namespace ooc
