#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ooc {

/// A file that appears whole or not at all. It has no name (O_TMPFILE; where the file system knows
/// none, an exclusive temporary beside the target) until publish() has made it durable and moved
/// it into place; destroyed before that, it leaves nothing behind. Space for `bytes` is allocated
/// at once, so that a full disk fails in the first second.
class OutputFile {
 public:
  /// Throws Error(output): no such directory, no permission, no space, or `path` exists and
  /// `replace` is false.
  OutputFile(const std::filesystem::path& path, std::uint64_t bytes, bool replace);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Several threads may write, to ranges that do not overlap. Throws Error(output).
  void write(std::uint64_t offset, std::span<const std::byte> data);

  /// One fsync, never retried: a file that failed it is not published. Throws Error(output).
  void publish();

 private:
  OutputFile(const std::filesystem::path& path, bool replace);
  void create();
  void allocate(std::uint64_t bytes);
  void move_into_place();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty while nameless
  bool replace_;
  int descriptor_ = -1;
};

}  // namespace ooc
