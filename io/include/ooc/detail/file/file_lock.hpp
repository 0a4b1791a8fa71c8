#pragma once

#include <ooc/detail/base/api.hpp>

#include <filesystem>

namespace ooc::detail {

/// A lock on a file, by which other processes know that it is in use. The kernel ends it with its
/// process, however that ends. On a file system without locks nothing is locked.
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
