#pragma once

#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace ooc::detail {

/// Returns the magic number of the file system that holds a file's data. 0 if unknown, and for
/// devices, whose node is in a file system but whose data is not.
inline long file_system_of(int descriptor) {
  struct stat file {};
  struct statfs file_system {};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return ::fstatfs(descriptor, &file_system) == 0 ? static_cast<long>(file_system.f_type) : 0;
}

/// True if the file's data is in memory only: tmpfs or ramfs.
inline bool is_tmpfs(int descriptor) {
  const long magic = file_system_of(descriptor);
  return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

/// True if allocate_range() says that the file system has no fallocate(). ramfs has none, and
/// allocates pages on first access.
inline bool lacks_fallocate(int errno_value) {
  return errno_value == EOPNOTSUPP || errno_value == ENOSYS;
}

/// Allocates the unallocated parts of a byte range. Returns 0 or an errno.
inline int allocate_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) {
  const auto allocate = [&] {
    return ::fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  };
  return repeat_interrupted(allocate) == 0 ? 0 : errno;
}

/// Returns a sentence on why direct I/O to the file is not possible; empty if the kernel reports no
/// obstacle.
inline std::string objection_to_direct_io(int descriptor) {
  struct statx status {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0) return {};
  if ((status.stx_mask & STATX_DIOALIGN) == 0) return {};  // not reported: it may work
  if (status.stx_dio_offset_align == 0) return "its file system has no direct I/O for it";
  if (status.stx_dio_offset_align > page_bytes || status.stx_dio_mem_align > page_bytes) {
    return "its blocks are larger than a page";
  }
  return {};
}

}  // namespace ooc::detail
