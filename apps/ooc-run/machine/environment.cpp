#include "machine/environment.hpp"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <iterator>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/base/text_file.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <sstream>
#include <vector>

#include "cli/sizes.hpp"
#include "machine/proc_files.hpp"
#include "measure/page_cache.hpp"

namespace ooc_run {
namespace {

/// Returns the file system type and the source of the mount with this device number. In a line of
/// /proc/self/mountinfo, the third word is the device number; type and source follow " - ".
std::string mount_of(const std::string& device) {
  std::istringstream file(ooc::detail::read_text("/proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string id, parent, number;
    words >> id >> parent >> number;
    const std::size_t dash = line.find(" - ");
    if (number != device || dash == std::string::npos) continue;
    std::istringstream rest(line.substr(dash + 3));
    std::string type, source;
    rest >> type >> source;
    return source == type ? type : type + " " + source;
  }
  return {};
}

std::string for_shell(const std::string& word) {
  constexpr std::string_view plain = "@%+=:,./-_";
  const bool safe = !word.empty() && std::ranges::all_of(word, [plain](char letter) {
    return ooc::detail::is_letter_or_digit(letter) || plain.find(letter) != std::string_view::npos;
  });
  if (safe) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

std::tm utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm time{};
  gmtime_r(&now, &time);
  return time;
}

}  // namespace

std::string processor_name() {
  const std::string name = value_of("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

std::string machine_name() {
  utsname names{};
  uname(&names);
  return fmt::format("{}, {}, {}", names.nodename, processor_name(),
                     format_count(ooc::detail::usable_cores(), "core"));
}

std::string file_system_of(const std::filesystem::path& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  if (S_ISBLK(file.st_mode)) {
    return fmt::format("block device {}:{}", major(file.st_rdev), minor(file.st_rdev));
  }
  const std::string device = fmt::format("{}:{}", major(file.st_dev), minor(file.st_dev));
  const std::string mount = mount_of(device);
  if (!mount.empty()) return mount;
  struct statfs system {};
  if (statfs(path.c_str(), &system) != 0) return device;
  // Some file systems, such as btrfs, report one device number for files and another for mounts.
  return fmt::format("type {:#x}", system.f_type);
}

bool is_tmpfs(const std::filesystem::path& path) {
  struct stat file {};
  struct statfs system {};
  if (stat(path.c_str(), &file) != 0 || statfs(path.c_str(), &system) != 0) return false;
  if (!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) return false;  // device nodes
  return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

Extents extents_of(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {{}, ooc::describe_errno(errno)};
  fiemap map{};  // no room for extents, so that the kernel only counts them
  map.fm_length = FIEMAP_MAX_OFFSET;
  const int errno_value = ioctl(descriptor, FS_IOC_FIEMAP, &map) == 0 ? 0 : errno;
  close(descriptor);
  if (errno_value != 0) return {{}, ooc::describe_errno(errno_value)};
  return {map.fm_mapped_extents, {}};
}

std::string kernel_release() {
  utsname names{};
  uname(&names);
  return names.release;
}

std::string huge_pages() {
  // The file has, for example, "always [madvise] never".
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t begin = line.find('['), end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return line.substr(begin + 1, end - begin - 1);
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string gpu_driver() {
  return first_line("/proc/driver/nvidia/version");
}

std::string command_line() {
  std::istringstream file(ooc::detail::read_text("/proc/self/cmdline"));
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    text += (text.empty() ? "" : " ") + for_shell(ooc::detail::shown_word(word));
  }
  return text;
}

std::string today() {
  const std::tm time = utc();
  return fmt::format("{:04}-{:02}-{:02}", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday);
}

std::string now() {
  const std::tm time = utc();
  return fmt::format("{} {:02}:{:02} UTC", today(), time.tm_hour, time.tm_min);
}

}  // namespace ooc_run
