#pragma once

#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ooc {

/// An input file: a regular file or a block device, open for reading. Owns its descriptors; moves,
/// never copies. Reads through the page cache are always possible; direct reads (O_DIRECT) where
/// the file system really performs them, which opening the file has tried.
class File {
 public:
  /// Throws Error: `input` if it cannot be opened, `bad_input` if it is a directory, a FIFO, a
  /// socket or a character device.
  static File open(const std::filesystem::path& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  /// The descriptor that reads through the page cache.
  int buffered() const noexcept { return buffered_; }

  /// The descriptor that bypasses it, or -1; then why_not_direct() says why.
  int direct() const noexcept { return direct_; }
  const std::string& why_not_direct() const noexcept { return why_not_direct_; }

  /// The errno of the disk, if it is the disk that keeps us from direct reads and not the file
  /// system: the one that opening the file has tried has failed. Or 0.
  int disk_errno() const noexcept { return disk_errno_; }

  /// Throws Error(input_changed) if somebody has written to the file since it was opened: its size
  /// or the time of its last write is another. What is written within one tick of the file system's
  /// clock (some milliseconds before Linux 6.13) can be missed, and what is written to a block
  /// device is.
  void check_unchanged() const;

  /// Whether its name still leads to it, and nothing else about it has changed either: its rights,
  /// its names, or the time of its last write, which somebody may have set back. What was opened is
  /// what is read, even if not.
  bool is_as_it_was() const noexcept;

  /// What offset, length and memory of a direct read must be a multiple of (bytes). Files that
  /// would need more than a page are read through the page cache.
  static constexpr std::size_t alignment() noexcept { return page_bytes; }

 private:
  File() = default;
  void open_direct();
  void try_direct_read();

  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  struct stat opened_ {};  // its state when it was opened
  int buffered_ = -1;
  int direct_ = -1;
  std::string why_not_direct_;
  int disk_errno_ = 0;
};

/// What a read that has failed at `offset` is reported as.
Error read_error(const File& file, std::uint64_t offset, int errno_value);

/// What a read that has found the end of the file at byte `end`, which was not there when it was
/// opened, is reported as.
Error shrank_error(const File& file, std::uint64_t end);

}  // namespace ooc
