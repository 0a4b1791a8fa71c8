#pragma once

#include <filesystem>
#include <string>

namespace ooc::detail {

/// How a file of this path can get its name when it is whole.
struct Publishing {
  bool nameless = false;  ///< it can be written without a name, and get one at the end
  std::string note{};     ///< what is to be known of the way; mostly empty
};

/// Tries with an empty file in the directory of `target` how a file gets its name, because file
/// systems and sandboxes refuse some of the ways: that must not show after all of the work. Throws
/// Error(output) if there is no way. `may_be_nameless`: false for a file that is to be kept.
Publishing try_publishing(const std::filesystem::path& target, bool replace, bool may_be_nameless);

/// True if the path names this open file.
bool names(const std::filesystem::path& path, int descriptor);

/// Gives a file without a name (O_TMPFILE) one that no file has: by its descriptor, which takes a
/// privilege before Linux 6.10, else by its entry in /proc. Returns 0 or an errno.
int link_nameless(int descriptor, const std::filesystem::path& name);

/// Copies a file to a name that no file has, and makes the copy durable. Returns its descriptor, or
/// -1 with errno.
int copy_to_new(int descriptor, const std::filesystem::path& name);

/// Moves a file to a name that no file has: by a rename that replaces nothing, else by a link, else
/// by a rename over an empty file that it creates for that. Returns 0 or an errno.
int move_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace ooc::detail
