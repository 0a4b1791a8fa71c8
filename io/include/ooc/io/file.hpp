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

  /// Throws Error(input_changed) if another program has, or may have, written to the file since it
  /// was opened:
  ///
  ///  -  its size or the time of its last write (mtime) differs; or
  ///  -  only the time of its last change (ctime) differs, as after a write whose mtime was set
  ///     back (`cp -p`, `rsync --inplace -t`, `touch -r`). A rename, a new link, and another mode
  ///     or owner move the ctime too; where one of these explains it, this does not throw.
  ///
  /// A write is missed if it happens within one tick of the file system's clock (some milliseconds
  /// before Linux 6.13), if its mtime is set back and mode, owner, links or name change as well, or
  /// if the file is a block device. Reported although the data are the same: new extended
  /// attributes, times of access that are set (`touch -a`, `tar --atime-preserve`), and a name,
  /// link, mode or owner that changes and changes back.
  void check_unchanged() const;

  /// Whether its name still leads to it and its ctime is the same, so that nothing at all about it
  /// has changed. What was opened is read in any case.
  bool is_as_it_was() const noexcept;

  /// What offset, length and memory of a direct read must be a multiple of (bytes). Files that
  /// would need more than a page are read through the page cache.
  static constexpr std::size_t alignment() noexcept { return page_bytes; }

 private:
  File() = default;
  bool is_in_its_place() const noexcept;  // its name still leads to it
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
