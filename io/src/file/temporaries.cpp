#include "file/temporaries.hpp"

#include <ooc/detail/base/repeats.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

namespace ooc::detail {
namespace {

constexpr std::string_view ending = ".ooc-tmp";
constexpr std::string_view kept_ending = ".ooc-part";
constexpr int random_letters = 8;

/// Returns the start of the temporary's name. Long names are truncated to keep within the limit on
/// file names.
std::string temporary_prefix(const std::filesystem::path& path) {
  constexpr std::size_t most = 200;
  return "." + path.filename().string().substr(0, most) + ".";
}

/// True if a name consists of `prefix`, random letters, and the ending `ends_with`.
bool is_name_of(std::string_view prefix, std::string_view name, std::string_view ends_with) {
  return name.size() == prefix.size() + random_letters + ends_with.size() &&
         name.starts_with(prefix) && name.ends_with(ends_with) &&
         name.find('/') == std::string_view::npos;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
}

std::filesystem::path random_temporary(const std::filesystem::path& path) {
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string name = temporary_prefix(path);
  for (int i = 0; i < random_letters; ++i) name += characters[random() % characters.size()];
  return directory_of(path) / (name + std::string{ending});
}

std::filesystem::path kept_name_of(const std::filesystem::path& temporary) {
  return std::filesystem::path(temporary).replace_extension(kept_ending);
}

std::filesystem::path temporary_of(const std::filesystem::path& kept) {
  return std::filesystem::path(kept).replace_extension(ending);
}

bool is_kept_name(const std::filesystem::path& path, std::string_view name) {
  return is_name_of(temporary_prefix(path), name, kept_ending);
}

bool lock_kept(int descriptor) {
  constexpr int most_tries = 100;
  constexpr auto pause = std::chrono::milliseconds(20);
  const auto lock = [&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); };
  for (int i = 0; repeat_interrupted(lock) != 0; ++i) {
    if (errno != EWOULDBLOCK) return true;  // a file system without locks
    if (i >= most_tries) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

bool lock_temporary(int descriptor) {
  // A process that holds the lock is about to remove the file. Some file systems have no locks.
  std::ignore = repeat_interrupted([&] { return ::flock(descriptor, LOCK_EX); });
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink != 0;
}

int create_temporary(const std::filesystem::path& temporary, mode_t mode) {
  const int descriptor =
      ::open(temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
  if (descriptor < 0 || lock_temporary(descriptor)) return descriptor;
  ::close(descriptor);
  errno = EEXIST;
  return -1;
}

/// Ignores errors, because cleaning up must not fail a run. Uses readdir(), because libstdc++'s
/// directory_iterator terminates the process if memory runs out.
void remove_stale_temporaries(const std::filesystem::path& path) {
  const std::string prefix = temporary_prefix(path);
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(directory_of(path).c_str()));
  if (!directory) return;
  const int folder = ::dirfd(directory.get());
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (!is_name_of(prefix, name, ending)) continue;
    const int descriptor =
        ::openat(folder, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, entry->d_name, 0);
    ::close(descriptor);
  }
}

}  // namespace ooc::detail
