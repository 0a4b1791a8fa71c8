#pragma once

#include <ooc/io/error.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace ooc {

class MappedOutput;

/// Whether an output file is to be written. Of one that is merely tried, everything is found out
/// that keeps it from being written, and whether it could be written directly; but it takes no
/// space, and is not to be published.
enum class Purpose { write, dry_run };

/// Where a path leads if its last name is a symbolic link, however often, and whether or not
/// anything is there. Of links that go round in a circle, one of them.
std::filesystem::path follow_links(std::filesystem::path path);

/// A file that appears whole or not at all. It has no name (O_TMPFILE; where the file system knows
/// none, an exclusive temporary beside the target) until commit() has made it durable and moved
/// it into place; destroyed before that, it leaves nothing behind. A symbolic link stays, and what
/// it leads to is written: a link is how people give a file a place on another disk. Space for
/// `bytes` is allocated at once, so that a full disk fails in the first second; on tmpfs, which
/// must find and count each page, it is merely checked at once and allocated in the background,
/// ahead of the writers, who copy into a mapping there.
class OutputFile {
 public:
  /// Throws Error(output): no such directory, no permission, no space, or `path` leads to a file
  /// and `replace` is false.
  OutputFile(const std::filesystem::path& path, std::uint64_t bytes, bool replace,
             Purpose purpose = Purpose::write);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// As it was named.
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Several threads may write, to ranges that do not overlap. Throws Error(output).
  void write(std::uint64_t offset, std::span<const std::byte> data);

  /// Writes as much as the kernel takes at once, past the page cache if `direct`. Returns the bytes
  /// written, or an errno, negated. Any thread.
  ssize_t try_write(std::uint64_t offset, std::span<const std::byte> data, bool direct) noexcept;

  /// The descriptor that writes through the page cache.
  int buffered() const noexcept { return descriptor_; }

  /// The descriptor that bypasses it, or -1; then why_not_direct() says why. Offset, length and
  /// memory of a direct write are multiples of File::alignment().
  int direct() const noexcept { return direct_; }
  const std::string& why_not_direct() const noexcept { return why_not_direct_; }

  /// Whether what is written stays in memory (tmpfs).
  bool is_tmpfs() const noexcept { return is_tmpfs_; }

  /// What to tell of a failed write.
  Error write_error(int errno_value, std::uint64_t offset) const;

  /// One fsync, never retried: a file that failed it is not published. Throws Error(output); if
  /// only its directory cannot be made durable, when the file is already in its place.
  void commit();

 private:
  OutputFile(const std::filesystem::path& path, bool replace);
  void create();
  void keep_rights();
  void require_space(std::uint64_t bytes) const;
  void allocate(std::uint64_t bytes);
  void open_direct(std::uint64_t bytes);
  void move_into_place();

  std::filesystem::path path_;
  std::filesystem::path target_;     // where that leads
  std::filesystem::path temporary_;  // empty while nameless
  bool replace_;
  int descriptor_ = -1;
  int direct_ = -1;
  std::string why_not_direct_;
  bool is_tmpfs_ = false;
  std::unique_ptr<MappedOutput> mapped_;  // on tmpfs only
};

}  // namespace ooc
