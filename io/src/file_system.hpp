#pragma once

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace ooc {

/// The magic number of the file system that holds a file's data. 0 if it is not known, or for a
/// device: its node lies in a file system, its data do not.
inline long file_system_of(int descriptor) {
  struct stat file {};
  struct statfs file_system {};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return ::fstatfs(descriptor, &file_system) == 0 ? static_cast<long>(file_system.f_type) : 0;
}

inline bool lies_in_memory(int descriptor) {
  const long magic = file_system_of(descriptor);
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

}  // namespace ooc
