#include <ooc/detail/file/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ooc/error.hpp>

#include <utility>

#include "file/temporaries.hpp"

namespace ooc::detail {

namespace {

/// Opens a file for writing if that is allowed: locks of NFS need it.
int open_to_lock(const std::filesystem::path& path) {
  const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int descriptor = ::open(path.c_str(), O_RDWR | flags);
  return descriptor >= 0 ? descriptor : ::open(path.c_str(), O_RDONLY | flags);
}

/// True if the open file still has this name.
bool has_name(int descriptor, const std::filesystem::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path) {
  for (;;) {
    *this = FileLock();
    descriptor_ = open_to_lock(path);
    if (descriptor_ < 0) return;
    if (!lock_kept(descriptor_)) {
      throw Error(ErrorKind::usage, path.string() + ": another run is using it",
                  {.path = path,
                   .why = "that run saves to it what it finds",
                   .hint = "wait until it has ended, or give this run a file of its own"});
    }
    // While this one waited, the other process may have replaced the file, and locked the new one.
    if (has_name(descriptor_, path)) return;
  }
}

FileLock::FileLock(int descriptor) noexcept : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace ooc::detail
