#include <ooc/detail/file/output_file.hpp>

#include "file/file_system.hpp"
#include "file/mapped_output.hpp"
#include "file/output_errors.hpp"
#include "file/temporaries.hpp"

#include <ooc/detail/file/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

// Outputs that other processes have made.

namespace ooc::detail {

namespace {

constexpr const char* begin_anew = "without its checkpoint, the job begins anew";

}  // namespace

/// Opens a file that an earlier process has kept. If it does not exist and `least_bytes` is 0,
/// leaves it closed; create() then makes a new file.
void OutputFile::open_kept(std::uint64_t least_bytes) {
  descriptor_ = ::open(kept_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0 && errno == ENOENT && least_bytes == 0) return;
  if (descriptor_ < 0) {
    const Error error = output_error("open", kept_);
    ErrorDetails details = error.details();
    if (details.errno_value == ENOENT) details.why = "what was written so far is gone";
    details.hint = begin_anew;
    throw Error(error.kind(), error.what(), details);
  }
  is_there_ = true;
  if (!lock_kept(descriptor_)) {
    throw Error(ErrorKind::output, kept_.string() + ": another run is writing it",
                {.path = kept_, .hint = "wait for its end, or end it"});
  }
  struct stat status {
  }, named{};
  if (::fstat(descriptor_, &status) != 0) throw output_error("stat", kept_);
  const bool has_name = ::lstat(kept_.c_str(), &named) == 0 && named.st_ino == status.st_ino &&
                        named.st_dev == status.st_dev;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (!has_name || !S_ISREG(status.st_mode) || bytes < least_bytes) {
    throw Error(ErrorKind::output, kept_.string() + ": is not as it was left",
                {.path = kept_,
                 .why = has_name ? "it has " + std::to_string(bytes) + " bytes, and had " +
                                       std::to_string(least_bytes) + " at least"
                                 : "another run has moved it",
                 .hint = begin_anew});
  }
  temporary_ = kept_;
  is_kept_ = true;
}

/// Opens the file of another process, under its kept name or the temporary name that it has before.
void OutputFile::join() {
  constexpr int most_tries = 3;  // it may get the other name just now
  for (int i = 0; descriptor_ < 0 && i < most_tries; ++i) {
    for (const auto& name : {kept_, temporary_of(kept_)}) {
      if (descriptor_ < 0) descriptor_ = ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    }
  }
  if (descriptor_ < 0) {
    const int errno_value = errno;
    throw Error(ErrorKind::output,
                kept_.string() + ": cannot be opened: " + describe_errno(errno_value),
                {.path = kept_,
                 .errno_value = errno_value,
                 .why = "another process has made it, which writes the same output",
                 .hint = "put the output where all machines see the same files"});
  }
  is_kept_ = true;
  is_tmpfs_ = detail::is_tmpfs(descriptor_);
  struct stat status {};
  if (is_tmpfs_ && ::fstat(descriptor_, &status) == 0 && status.st_size > 0) {
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    mapped_ = std::make_unique<MappedOutput>(descriptor_, bytes, Purpose::join);
  }
  why_not_direct_ = is_tmpfs_ ? "tmpfs has no disk under it" : objection_to_direct_io(descriptor_);
  if (!why_not_direct_.empty()) return;
  // No test write: the other process may be writing the same page.
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
  direct_ = ::open(self.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT);
  if (direct_ < 0) why_not_direct_ = "it cannot be opened with O_DIRECT: " + describe_errno(errno);
}

}  // namespace ooc::detail
