#include "file/output_errors.hpp"

#include "file/temporaries.hpp"

#include <ooc/detail/http/secrets.hpp>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

namespace ooc::detail {
namespace {

/// True if the file system of a path has no inodes left: then ENOSPC does not mean a lack of space.
bool has_no_inodes(const std::filesystem::path& path) {
  struct statvfs status {};
  return ::statvfs(directory_of(path).c_str(), &status) == 0 && status.f_files != 0 &&
         status.f_favail == 0;
}

std::string hint_for(int errno_value, const std::filesystem::path& path) {
  switch (errno_value) {
    case ENOENT:
      if (::access(directory_of(path).c_str(), F_OK) == 0) return "choose another directory";
      return "make its directory first: mkdir -p " + shell_word(directory_of(path));
    case EACCES:
    case EPERM:
    case EROFS: return "choose a directory you may write to";
    case ENOSPC:
      if (has_no_inodes(path)) {
        return "its file system has no inodes left for new files (df -i): remove small files, or "
               "choose another disk";
      }
      [[fallthrough]];
    case EDQUOT: return "make room, or choose another disk";
    case EMFILE: return "raise the limit on open files (ulimit -n)";
    case EFBIG: return "raise the limit on file sizes (ulimit -f), or choose another disk";
    default: return {};
  }
}

}  // namespace

Error output_error(const std::string& verb, const std::filesystem::path& path, int errno_value,
                   std::optional<std::uint64_t> offset) {
  return Error::from_errno(ErrorKind::output, verb, errno_value, shown_word(path.native()), offset,
                           hint_for(errno_value, path));
}

Error exists_error(const std::filesystem::path& path) {
  return Error(ErrorKind::output, path.string() + ": exists already",
               {.path = path,
                .errno_value = EEXIST,
                .remedies = {{RemedyAction::set, "Target::replace", "", "replaces it"}}});
}

void require_replaceable(const std::filesystem::path& path, const std::filesystem::path& target,
                         bool replace) {
  if (!target.has_filename()) {
    throw Error(ErrorKind::output, path.string() + ": is not the name of a file", {.path = path});
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int errno_value = errno;
    const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (errno_value == ENAMETOOLONG) throw output_error("create", path, errno_value);
    if (errno_value == ENOENT || !is_link) return;             // most likely it does not exist
    throw output_error("follow the link", path, errno_value);  // a cycle of links, or no permission
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::output, path.string() + ": is a directory",
                {.path = path, .hint = "name a file in it"});
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::output, path.string() + ": is not a regular file",
                {.path = path, .why = "only regular files are replaced"});
  }
  if (!replace) throw exists_error(path);
}

}  // namespace ooc::detail
