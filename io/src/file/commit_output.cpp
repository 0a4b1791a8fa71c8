#include "file/mapped_output.hpp"
#include "file/output_errors.hpp"
#include "file/publishing.hpp"
#include "file/temporaries.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

// The end of an output: it becomes durable and gets its name.

namespace ooc::detail {
namespace {

/// Makes the name of a file durable. `directory_name`: its directory. `descriptor`: of the file, or
/// of another one on its file system. Allocates only on failure: the file is in its place.
void make_name_durable(const std::filesystem::path& directory_name,
                       const std::filesystem::path& path, int descriptor) {
  const int directory = ::open(directory_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A directory that may be written to but not be read cannot be opened.
  const int result = directory >= 0 ? ::fsync(directory) : ::syncfs(descriptor);
  const int errno_value = result == 0 ? 0 : errno;
  if (directory >= 0) ::close(directory);
  // Some file systems cannot sync a directory and return EINVAL.
  if (errno_value == 0 || errno_value == EINVAL) return;
  const Error error =
      Error::from_errno(ErrorKind::output, "fsync of its directory", errno_value, path);
  ErrorDetails details = error.details();
  details.why = "the new file is whole and in its place, but a power failure may undo that";
  throw Error(error.kind(), error.what(), details);
}

}  // namespace

/// Writes the dirty pages of the file to the disk, piece by piece: one fsync() of all of them may
/// take minutes, and would look like a call that hangs. Throws Error(output).
void OutputFile::flush() const {
  if (is_tmpfs_) return;
  constexpr std::uint64_t piece = 64 * MiB;
  constexpr unsigned begin = SYNC_FILE_RANGE_WRITE;
  constexpr unsigned finish =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  const auto sync = [&](std::uint64_t offset, unsigned flags) {
    return ::sync_file_range(descriptor_, static_cast<off_t>(offset), piece, flags);
  };
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  for (std::uint64_t offset = 0; offset < bytes; offset += piece) {
    if (sync(offset + piece, begin) != 0 || sync(offset, finish) != 0) {
      // The kernel reports a disk error only once. Other errors mean that the call is missing.
      const bool is_lost = errno == EIO || errno == ENOSPC || errno == EDQUOT;
      if (is_lost) throw output_error("fsync", target_);
      return;
    }
    IoMeter::of_process().add(piece);
  }
}

void OutputFile::make_durable() {
  const DiskCall waits;
  flush();
  if (const int errno_value = mapped_ ? mapped_->finish() : 0) {
    throw output_error("allocate", target_, errno_value);
  }
  if (::fsync(descriptor_) != 0) throw output_error("fsync", target_);
  is_durable_ = true;
}

void OutputFile::keep() {
  const DiskCall waits;
  flush();
  if (::fdatasync(descriptor_) != 0) throw output_error("fdatasync", target_);
  if (is_kept_ || kept_.empty()) return;
  const std::filesystem::path directory = directory_of(target_);
  std::filesystem::path kept = kept_;
  // Replaces no file, since the name is unique. Some file systems have no other rename nor links.
  if (::rename(temporary_.c_str(), kept_.c_str()) != 0) throw output_error("rename", target_);
  temporary_ = std::move(kept);
  is_kept_ = true;
  make_name_durable(directory, target_, descriptor_);
}

void OutputFile::commit() {
  const DiskCall waits;
  if (!is_durable_) make_durable();
  if (replace_ && !kept_.empty()) keep_rights();
  const std::filesystem::path directory = directory_of(target_);
  const int errno_value = move_into_place();
  // A network file system may repeat the call and report an error although the file was moved.
  if (errno_value != 0 && !names(target_, descriptor_)) throw not_moved(errno_value);
  temporary_.clear();
  make_name_durable(directory, target_, descriptor_);
  if (direct_ >= 0) ::close(std::exchange(direct_, -1));
  ::close(std::exchange(descriptor_, -1));
}

/// Moves the file to its target. Returns 0 or an errno.
int OutputFile::move_into_place() {
  if (temporary_.empty() && !replace_) {
    const int errno_value = link_nameless(descriptor_, target_);
    if (errno_value == 0 || errno_value == EEXIST) return errno_value;
  }
  // linkat() cannot replace a file: link to a temporary name and rename.
  if (temporary_.empty()) {
    if (const int errno_value = take_name(random_temporary(target_))) return errno_value;
  }
  if (!replace_) return move_to_new(temporary_, target_);
  return ::rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno;
}

/// Gives a file a name by a link if it has none, else by a copy. Returns 0 or an errno.
int OutputFile::take_name(std::filesystem::path name) {
  const int errno_value = temporary_.empty() ? link_nameless(descriptor_, name) : EEXIST;
  if (errno_value != 0) {
    const int copy = copy_to_new(descriptor_, name);
    if (copy < 0) return errno_value;
    ::close(std::exchange(descriptor_, copy));
  }
  temporary_ = std::move(name);
  return 0;
}

/// Returns the error for a file that is whole and could not be moved into its place. It stays,
/// under a name that later runs do not remove.
Error OutputFile::not_moved(int errno_value) {
  const Error error =
      errno_value == EEXIST ? exists_error(path_) : output_error("rename", target_, errno_value);
  ErrorDetails details = error.details();
  if (!is_kept_) {
    const std::filesystem::path name =
        kept_.empty() ? kept_name_of(random_temporary(target_)) : kept_;
    // As `.ooc-tmp` it would be removed by the next run.
    const std::filesystem::path old = temporary_;
    if (!old.empty() && move_to_new(old, name) == 0) {
      temporary_ = name;
    } else if (take_name(name) == 0 && !old.empty()) {
      ::unlink(old.c_str());
    }
    is_kept_ = !temporary_.empty();
  }
  details.why += details.why.empty() ? "" : "; ";
  if (is_kept_) {
    details.why += "the new file is whole, and stays as " + temporary_.string();
    details.hint += (details.hint.empty() ? "" : "; ") + std::string("move it: mv ") +
                    shell_word(temporary_) + " " + shell_word(target_);
  } else {
    details.why += "the new file is lost: it could get no name, nor be copied";
  }
  return {error.kind(), error.what(), details};
}

}  // namespace ooc::detail
