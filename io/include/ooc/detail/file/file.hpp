#pragma once

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ooc::detail {

class EncodedArray;
class RemoteObject;

/// An input file: a regular file, a block device, or an object on a web server, open for reading;
/// or an array in memory, or in encoded pieces of other files, in their place.
/// Owns its descriptors; movable, not copyable. Buffered reads of local files are always possible.
/// Direct reads (O_DIRECT) are possible if a test read succeeded when the file was opened. A remote
/// file has no descriptors: HttpEngine and read_exactly() read it.
class File {
 public:
  /// Opens a file, or asks a server for the size and the version of an object: `https://`,
  /// `http://` and `s3://` addresses. Throws Error: `input` if it cannot be opened or the server
  /// cannot be reached, `bad_input` if it is a directory, a FIFO, a socket, a character device, a
  /// file of procfs or sysfs, or an object of which the server does not send parts.
  static File open(const std::filesystem::path& path);

  /// Returns a file over an array in memory, which must outlive the file. It has no descriptors.
  static File in_memory(std::span<const std::byte> memory, std::string name);

  /// Returns a file over an array in the memory of a GPU, which must outlive the file. It cannot be
  /// read: passes work on that memory.
  static File in_device_memory(std::span<const std::byte> memory, std::string name);

  /// Returns a file whose bytes are those of an array in encoded pieces. It has no descriptors.
  static File of_pieces(std::shared_ptr<const EncodedArray> array);

  /// Returns a regular file that was seen in a directory, with the status that it had. It has no
  /// descriptors: read_exactly() opens it, reads, checks that it is as it was, and closes it.
  static File unopened(std::filesystem::path path, const struct stat& status);

  /// Takes the open file over; `other` has none afterwards.
  File(File&& other) noexcept;
  /// Exchanges the open files.
  File& operator=(File&& other) noexcept;
  ~File();

  /// Returns the path as given to open(). An address is cut off before its `?`, because the query
  /// may contain a signature, which must not appear in messages.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the size of the file or block device when it was opened (bytes).
  std::uint64_t size() const noexcept { return size_; }

  /// Returns the time of the last write when it was opened (nanoseconds since 1970).
  std::int64_t modified_ns() const noexcept {
    return std::int64_t{opened_.st_mtim.tv_sec} * 1'000'000'000 + opened_.st_mtim.tv_nsec;
  }

  /// Returns the object on a server; null for a local file.
  const RemoteObject* remote() const noexcept { return remote_.get(); }

  /// Returns the array in memory; null for a file.
  const std::byte* memory() const noexcept { return memory_; }

  /// True if the array is in the memory of a GPU.
  bool is_on_device() const noexcept { return is_on_device_; }

  /// Returns the array in encoded pieces; null for a file.
  const EncodedArray* encoded() const noexcept { return encoded_.get(); }

  /// True if each read opens the file.
  bool is_unopened() const noexcept { return is_unopened_; }

  /// Opens a file of which only the status is known. Throws Error: `input`; `input_changed` if it
  /// is not there any more.
  File reopened() const;

  /// Returns the descriptor for reads through the page cache; -1 if the file is remote or not open,
  /// or for an array.
  int buffered() const noexcept { return buffered_; }

  /// Returns the descriptor for direct reads, or -1.
  int direct() const noexcept { return direct_; }

  /// Says why direct reads are not possible; empty if they are.
  const std::string& why_not_direct() const noexcept { return why_not_direct_; }

  /// Returns the errno of the test read if the disk failed it, or 0. It is 0 if the file system
  /// does not support direct reads.
  int disk_errno() const noexcept { return disk_errno_; }

  /// Throws Error(input_changed) if another program has, or may have, written to the file since it
  /// was opened. Each read of a remote file checks that itself. For a local file, it throws if
  ///
  ///  -  the file's size or modification time (mtime) differs; or
  ///  -  only its change time (ctime) differs, as after a write whose mtime was set back (`cp -p`,
  ///     `rsync --inplace -t`, `touch -r`). A rename, a new link, and a new mode or owner change
  ///     the ctime too; if one of these explains it, this does not throw.
  ///
  /// A write is not detected if it happens within one tick of the file system's clock (some
  /// milliseconds before Linux 6.13), if its mtime is set back and mode, owner, links or name
  /// change as well, or if the file is a block device. False positives: new extended attributes,
  /// access times that are set (`touch -a`, `tar --atime-preserve`), and a name, link, mode or
  /// owner that changes and changes back.
  void check_unchanged() const;

  /// True if the path still names this file and its ctime is unchanged, so that neither data nor
  /// attributes have changed. Reads continue from the opened file in any case.
  bool is_as_it_was() const noexcept;

  /// Returns the alignment of offset, length and memory of direct reads (bytes). Files that need
  /// more than a page are read through the page cache.
  static constexpr std::size_t alignment() noexcept { return page_bytes; }

 private:
  File() = default;
  bool is_in_its_place() const noexcept;  // its path still names it
  void open_direct();
  void try_direct_read();

  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  struct stat opened_ {};  // its status when it was opened
  int buffered_ = -1;
  int direct_ = -1;
  std::string why_not_direct_;
  int disk_errno_ = 0;
  const std::byte* memory_ = nullptr;           // an array instead of a file
  bool is_on_device_ = false;                   // the array is in the memory of a GPU
  bool is_unopened_ = false;                    // each read opens it
  std::shared_ptr<const RemoteObject> remote_;  // shared with requests of HttpEngine
  std::shared_ptr<const EncodedArray> encoded_;
};

/// Reads as many bytes as `memory` has, from `offset` on, through the page cache or from a server.
/// Throws Error: `input` if that fails, `input_changed` if the file ends before.
void read_exactly(const File& file, std::uint64_t offset, std::span<std::byte> memory);

/// Returns the error for a read that failed at `offset`.
Error read_error(const File& file, std::uint64_t offset, int errno_value);

/// Returns the error for a read that found the end of the file at byte `end`, before the size that
/// the file had when it was opened.
Error shrank_error(const File& file, std::uint64_t end);

}  // namespace ooc::detail
