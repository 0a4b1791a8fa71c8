#pragma once

#include <filesystem>
#include <string>

namespace ooc::detail {

/// The way in which a complete file gets its name.
struct Publishing {
  bool nameless = false;  ///< it can be written without a name, and get one at the end
  std::string note{};     ///< describes a fallback; usually empty
};

/// Finds a way to name a complete file, by trying with an empty one in the directory of `target`.
/// File systems and sandboxes refuse some ways, and that must be known before the work begins.
/// Throws Error(output) if there is no way. `may_be_nameless`: false for a file that is to be kept.
Publishing try_publishing(const std::filesystem::path& target, bool replace, bool may_be_nameless);

/// True if the path names this open file.
bool names(const std::filesystem::path& path, int descriptor);

/// Links a nameless file (O_TMPFILE) to an unused name: by its descriptor, which requires a
/// privilege before Linux 6.10, else through /proc. Returns 0 or an errno.
int link_nameless(int descriptor, const std::filesystem::path& name);

/// Copies a file to a name that no file has, and makes the copy durable. Returns its descriptor, or
/// -1 with errno.
int copy_to_new(int descriptor, const std::filesystem::path& name);

/// Moves a file to a name that no file has: by a rename that replaces nothing, else by a link, else
/// by a rename over an empty file that it creates for that. Returns 0 or an errno.
int move_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace ooc::detail
