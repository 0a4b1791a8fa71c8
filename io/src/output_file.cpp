#include <ooc/io/error.hpp>
#include <ooc/io/output_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>

namespace ooc {
namespace {

constexpr mode_t mode = 0666;  // less the umask
constexpr std::string_view temporary_ending = ".ooc-tmp";
constexpr int most_name_tries = 100;

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
}

/// Temporaries of a target are ".NAME.XXXXXXXX.ooc-tmp" beside it.
std::string temporary_prefix(const std::filesystem::path& path) {
  std::string prefix{'.'};
  prefix += path.filename().string();
  prefix += '.';
  return prefix;
}

std::filesystem::path random_temporary(const std::filesystem::path& path) {
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string name = temporary_prefix(path);
  for (int i = 0; i < 8; ++i) name += characters[random() % characters.size()];
  return directory_of(path) / (name + std::string{temporary_ending});
}

Error output_error(const std::string& verb, const std::filesystem::path& path) {
  const int errno_value = errno;
  std::string hint;
  if (errno_value == ENOENT) hint = "make its directory first";
  if (errno_value == EACCES || errno_value == EROFS) hint = "choose a directory you may write to";
  if (errno_value == ENOSPC || errno_value == EDQUOT) hint = "make room, or choose another disk";
  return Error::from_errno(Cause::output, verb, errno_value, path, {}, hint);
}

Error exists_error(const std::filesystem::path& path) {
  return Error(Cause::output, path.string() + ": exists already",
               {.path = path, .errno_value = EEXIST, .hint = "use --force to replace it"});
}

void require_replaceable(const std::filesystem::path& path, bool replace) {
  if (!path.has_filename()) {
    throw Error(Cause::output, path.string() + ": is not the name of a file", {.path = path});
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;  // most likely it does not exist
  if (S_ISDIR(status.st_mode)) {
    throw Error(Cause::output, path.string() + ": is a directory", {.path = path});
  }
  if (!replace) throw exists_error(path);
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    throw Error(Cause::output, path.string() + ": is not a regular file",
                {.path = path, .why = "only regular files are replaced"});
  }
}

/// Removes temporaries that a killed run has left. Those of a living one are locked.
void remove_stale_temporaries(const std::filesystem::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code ignored;  // tidying up is no reason to fail
  for (const auto& entry : std::filesystem::directory_iterator(directory_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(temporary_ending)) continue;
    const int descriptor =
        ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

void make_directory_durable(const std::filesystem::path& path) {
  const int descriptor = ::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw output_error("open directory", path);
  const int result = ::fsync(descriptor);
  const int errno_value = errno;
  ::close(descriptor);
  // Some file systems cannot synchronise a directory, and say so with EINVAL.
  if (result != 0 && errno_value != EINVAL) {
    throw Error::from_errno(Cause::output, "fsync of its directory", errno_value, path);
  }
}

/// Renames without ever replacing what is there. Returns 0 or -1 with errno.
int rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  const int result = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (result == 0 || errno != EINVAL) return result;
  // Not every file system has that; all that lack it have hard links.
  return ::link(from.c_str(), to.c_str()) == 0 ? ::unlink(from.c_str()) : -1;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, bool replace)
    : path_(path), replace_(replace) {}

// Delegates, so that the destructor tidies up when a later step throws.
OutputFile::OutputFile(const std::filesystem::path& path, std::uint64_t bytes, bool replace)
    : OutputFile(path, replace) {
  require_replaceable(path, replace);
  remove_stale_temporaries(path);
  create();
  allocate(bytes);
}

void OutputFile::create() {
  descriptor_ = ::open(directory_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  // Old kernels take O_TMPFILE for an attempt to write to the directory (EISDIR).
  const bool unknown =
      descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
  for (int i = 0; unknown && descriptor_ < 0 && i < most_name_tries; ++i) {
    const std::filesystem::path candidate = random_temporary(path_);
    descriptor_ =
        ::open(candidate.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
    if (descriptor_ >= 0) temporary_ = candidate;
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw output_error("create", path_);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // tells others that this temporary is in use
}

void OutputFile::allocate(std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<off_t>(bytes);
  int result = 0;
  do {
    result = ::fallocate(descriptor_, 0, 0, size);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw output_error("allocate", path_);
  if (::ftruncate(descriptor_, size) != 0) throw output_error("allocate", path_);
}

void OutputFile::write(std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, data.data(), data.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error::from_errno(Cause::output, "write", errno, path_, offset,
                              errno == ENOSPC ? "make room, or choose another disk" : "");
    }
    offset += static_cast<std::uint64_t>(written);
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::publish() {
  if (::fsync(descriptor_) != 0) throw output_error("fsync", path_);
  move_into_place();
  ::close(std::exchange(descriptor_, -1));
  make_directory_durable(path_);
}

void OutputFile::move_into_place() {
  if (temporary_.empty()) {
    // A name can be given to a nameless file only where none is: a temporary one if need be.
    const std::filesystem::path name = replace_ ? random_temporary(path_) : path_;
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      throw errno == EEXIST ? exists_error(path_) : output_error("link", path_);
    }
    if (!replace_) return;
    temporary_ = name;
  }
  const int result =
      replace_ ? ::rename(temporary_.c_str(), path_.c_str()) : rename_to_new(temporary_, path_);
  if (result != 0) throw errno == EEXIST ? exists_error(path_) : output_error("rename", path_);
  temporary_.clear();
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ooc
