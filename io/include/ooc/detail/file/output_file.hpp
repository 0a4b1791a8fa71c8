#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/error.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ooc::detail {

class MappedOutput;

/// The purpose of opening an output file. `append`: its length is known only when it is written
/// (see OutputFile::grow()). `join`: another process has created the file, which may be kept,
/// allocates its space and commits it; this process writes its part. `dry_run` finds everything
/// that prevents writing, and whether direct writes are possible, but allocates no space. Files of
/// the last two must not be committed.
enum class Purpose { write, append, join, dry_run };

/// An output that survives if its process ends before it is complete, so that a later process can
/// continue it (see OutputFile::keep()).
struct KeptFile {
  std::string name{};       ///< of the file, in the directory of the output
  std::uint64_t bytes = 0;  ///< at its beginning that are there; 0: it may be new
};

/// Returns a new KeptFile::name for an output with this path.
OOC_API std::string new_kept_name(const std::filesystem::path& path);

/// Returns the path that remains after the last component has been resolved while it is a symbolic
/// link; its target need not exist. For a cycle of links, returns one of them.
OOC_API std::filesystem::path follow_links(std::filesystem::path path);

/// An output file that appears complete or not at all. It has no name (O_TMPFILE; on file systems
/// without it, a temporary with an exclusive name beside the target) until commit() has made it
/// durable and moved it into place. If it is destroyed before that, it leaves nothing behind. If
/// the path is a symbolic link, the link is kept and its target is written, because users place
/// files on other disks with links.
///
/// The constructor tries with an empty file how this one can be moved into place. So a file system
/// that refuses all ways is reported before any work is done.
///
/// It allocates space for `bytes`, so that a full disk is reported before any work is
/// done. On tmpfs, where every page must be allocated and counted, it only checks for space; a
/// thread allocates in the background, ahead of writers that copy into a mapping of the file. A
/// file that is appended to is allocated by grow() instead.
///
/// A file that is kept has a name from the beginning, and stays from the first keep() on until
/// commit() moves it into place: a later OutputFile with the same KeptFile continues it.
class OOC_API OutputFile {
 public:
  /// `bytes`: the size of the file, or an upper bound if it is appended to. Throws Error(output) if
  /// there is no such directory, no permission or no space, or if `path` exists and `replace` is
  /// false; and, with a name in `kept`, if that file is not there or too short, or if another
  /// process writes it.
  OutputFile(const std::filesystem::path& path, std::uint64_t bytes, bool replace,
             Purpose purpose = Purpose::write, const KeptFile& kept = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Returns the path as given, with links not resolved.
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Ensures that there is space for the first `bytes` bytes of a file that is appended to. It
  /// allocates more than that, up to a GiB at a time, if the disk has it. Not thread-safe. Throws
  /// Error(output).
  void grow(std::uint64_t bytes);

  /// Sets the size of a file that is appended to, when all of it is written. Throws Error(output).
  void trim(std::uint64_t bytes);

  /// Writes `data` at `offset` (bytes). Several threads may write ranges that do not overlap.
  /// Throws Error(output).
  void write(std::uint64_t offset, std::span<const std::byte> data);

  /// Writes as much as one system call accepts, past the page cache if `direct`. Returns the number
  /// of bytes written, or a negated errno. Thread-safe.
  ssize_t try_write(std::uint64_t offset, std::span<const std::byte> data, bool direct) noexcept;

  /// Returns the descriptor for writes through the page cache.
  int buffered() const noexcept { return descriptor_; }

  /// Returns the descriptor for direct writes, or -1. Offset, length and memory of a direct write
  /// are multiples of File::alignment().
  int direct() const noexcept { return direct_; }

  /// Says why direct writes are not possible; empty if they are.
  const std::string& why_not_direct() const noexcept { return why_not_direct_; }

  /// Describes a fallback in the way in which the file gets its name; usually empty.
  const std::string& note() const noexcept { return note_; }

  /// True if the file is in memory (tmpfs).
  bool is_tmpfs() const noexcept { return is_tmpfs_; }

  /// Returns the error for a write that failed at `offset`.
  Error write_error(int errno_value, std::uint64_t offset) const;

  /// Makes what is written durable. fsync is called once and never retried. Throws Error(output).
  void make_durable();

  /// Makes the bytes written so far durable, and the name of a kept file: from now on the file
  /// stays when this object is destroyed. Other threads may write meanwhile. If it throws
  /// Error(output), the contents on the disk are unknown.
  void keep();

  /// Makes the file durable, unless make_durable() has, and moves it into place. A file whose fsync
  /// failed is not moved. Throws Error(output). A complete file that cannot be moved stays beside
  /// its target, under a name that the error gives. If only the fsync of the directory fails, it
  /// throws after the file has been moved.
  void commit();

  /// Lets the destructor delete a file that could not be moved, for one that is easily made again.
  void drop() noexcept { is_kept_ = false; }

 private:
  OutputFile(const std::filesystem::path& path, bool replace, std::uint64_t most_bytes,
             const KeptFile& kept);
  void create(bool nameless);
  void create_with_name(const std::filesystem::path& temporary);
  void open_kept(std::uint64_t least_bytes);
  void join();
  void keep_rights();
  bool has_space(std::uint64_t bytes) const;
  std::uint64_t bytes_taken() const;
  void allocate(std::uint64_t bytes, Purpose purpose);
  int allocate_to(std::uint64_t bytes);
  void open_direct(std::uint64_t bytes);
  void flush() const;
  int move_into_place();
  int take_name(std::filesystem::path name);
  Error not_moved(int errno_value);

  std::filesystem::path path_;
  std::filesystem::path target_;     // `path_` with links resolved
  std::filesystem::path temporary_;  // empty while the file has no name
  std::filesystem::path kept_;       // its name if it is kept; else empty
  bool is_there_ = false;            // its bytes are those of an earlier process
  bool is_kept_ = false;             // it stays when this object is destroyed
  bool replace_;
  int descriptor_ = -1;
  int direct_ = -1;
  std::string why_not_direct_;
  std::string note_;
  bool is_tmpfs_ = false;
  bool is_durable_ = false;
  std::uint64_t most_bytes_;
  std::uint64_t allocated_ = 0;           // bytes from the beginning
  std::unique_ptr<MappedOutput> mapped_;  // on tmpfs only
};

}  // namespace ooc::detail
