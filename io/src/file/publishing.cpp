#include "file/publishing.hpp"

#include "file/output_errors.hpp"
#include "file/temporaries.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

namespace ooc::detail {
namespace {

constexpr const char* over_empty_file =
    "its file system moves a file to a new name only over an empty file of that name: a run that "
    "is killed at its end may leave that";

/// A descriptor of an empty file that has been created for a trial.
class Trial {
 public:
  explicit Trial(int descriptor) : descriptor_(descriptor) {}
  ~Trial() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Renames a file over an empty one, which it creates. Returns 0 or an errno.
int move_over_empty(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Trial empty(
      ::open(to.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, private_mode));
  if (empty.get() < 0) return errno;
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int errno_value = errno;
  if (names(to, empty.get())) ::unlink(to.c_str());
  return errno_value;
}

/// Moves a file by a rename or a link, which need no empty file. Returns 0 or an errno.
int move_at_once(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno == EEXIST) return EEXIST;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

Error no_way(const std::filesystem::path& target, int errno_value) {
  const Error error = output_error("rename", target, errno_value);
  if (errno_value == EMFILE || errno_value == ENFILE) return error;
  ErrorDetails details = error.details();
  details.why = "this was tried with an empty file: a finished output could not get its name there";
  details.hint = "choose another directory";
  return {error.kind(), error.what(), details};
}

/// Moves the file of a trial as an output is moved. Returns 0 or an errno.
int try_to_move(const std::filesystem::path& from, const std::filesystem::path& to, bool replace,
                Publishing& found) {
  if (!replace) {
    const int errno_value = move_at_once(from, to);
    if (errno_value == 0 || errno_value == EEXIST) return errno_value;
    found.note = over_empty_file;
  }
  return move_over_empty(from, to);
}

}  // namespace

bool names(const std::filesystem::path& path, int descriptor) {
  struct stat named {
  }, open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino &&
         named.st_size == open.st_size;
}

int link_nameless(int descriptor, const std::filesystem::path& name) {
  if (::linkat(descriptor, "", AT_FDCWD, name.c_str(), AT_EMPTY_PATH) == 0) return 0;
  const int errno_value = errno;
  if (errno_value == EEXIST) return EEXIST;
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  // ENOENT means that there is no /proc, or of the first call that the privilege is lacking.
  return errno == ENOENT ? errno_value : errno;
}

int copy_to_new(int descriptor, const std::filesystem::path& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return -1;
  const int copy = create_temporary(name, private_mode);
  if (copy < 0) return -1;
  std::vector<std::byte> piece(1 * MiB);
  bool is_whole = true;
  for (off_t done = 0; is_whole && done < status.st_size;) {
    const ssize_t got = ::pread(descriptor, piece.data(), piece.size(), done);
    is_whole = got > 0 && ::pwrite(copy, piece.data(), static_cast<std::size_t>(got), done) == got;
    done += std::max<ssize_t>(got, 0);
  }
  if (is_whole && ::fchmod(copy, status.st_mode & 0777) == 0 && ::fsync(copy) == 0) return copy;
  const int errno_value = errno;
  ::unlink(name.c_str());
  ::close(copy);
  errno = errno_value;
  return -1;
}

int move_to_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  const int errno_value = move_at_once(from, to);
  return errno_value == 0 || errno_value == EEXIST ? errno_value : move_over_empty(from, to);
}

Publishing try_publishing(const std::filesystem::path& target, bool replace, bool may_be_nameless) {
  constexpr int most_tries = 100;  // another run may remove a name before it is locked
  int errno_value = 0;
  for (int i = 0; i < most_tries; ++i) {
    Publishing found;
    const std::filesystem::path name = random_temporary(target), other = random_temporary(target);
    if (may_be_nameless) {
      const Trial nameless(
          ::open(directory_of(target).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, private_mode));
      if (nameless.get() >= 0) {
        lock_temporary(nameless.get());
        found.nameless = link_nameless(nameless.get(), name) == 0;
      }
      if (found.nameless) errno_value = replace ? move_over_empty(name, other) : 0;
    }
    if (!found.nameless) {
      const Trial named(create_temporary(name, private_mode));
      if (named.get() < 0 && errno == EEXIST) continue;
      if (named.get() < 0) throw output_error("create", target);
      errno_value = try_to_move(name, other, replace, found);
    }
    ::unlink(name.c_str());
    ::unlink(other.c_str());
    if (errno_value == 0) return found;
    if (errno_value != EEXIST && errno_value != ENOENT) break;
  }
  throw no_way(target, errno_value);
}

}  // namespace ooc::detail
