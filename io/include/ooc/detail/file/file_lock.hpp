#pragma once

#include <ooc/detail/base/api.hpp>

#include <filesystem>

namespace ooc::detail {

/// A lock that tells other processes that a file is in use. The kernel releases it when the process
/// ends, also after a crash. It has no effect on a file system without locks.
class OOC_API FileLock {
 public:
  FileLock() noexcept = default;

  /// Locks the file with this name; nothing if there is none. Throws Error(usage) if another
  /// process keeps it locked.
  explicit FileLock(const std::filesystem::path& path);

  /// Locks a file that this process has made, and has open.
  explicit FileLock(int descriptor) noexcept;

  ~FileLock();
  FileLock(FileLock&& other) noexcept;             ///< Takes the lock over.
  FileLock& operator=(FileLock&& other) noexcept;  ///< Takes the lock over.

 private:
  int descriptor_ = -1;
};

}  // namespace ooc::detail
