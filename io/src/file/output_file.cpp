#include "file/file_size_signal.hpp"
#include "file/file_system.hpp"
#include "file/mapped_output.hpp"
#include "file/output_errors.hpp"
#include "file/publishing.hpp"
#include "file/temporaries.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/http/address.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

namespace ooc::detail {
namespace {

constexpr mode_t mode = 0666;  // minus the umask
constexpr int most_name_tries = 100;
constexpr std::uint64_t least_growth_bytes = 1 * MiB, growth_bytes = 1 * GiB;

}  // namespace

std::filesystem::path follow_links(std::filesystem::path path) {
  const DiskCall waits;
  constexpr int most_links = 40;  // the kernel's limit
  std::array<char, PATH_MAX> next;
  for (int i = 0; i < most_links; ++i) {
    const ssize_t length = ::readlink(path.c_str(), next.data(), next.size());
    if (length < 0) return path;  // not a link
    path = directory_of(path) / std::string_view(next.data(), static_cast<std::size_t>(length));
  }
  return path;
}

std::string new_kept_name(const std::filesystem::path& path) {
  return kept_name_of(random_temporary(follow_links(path))).filename().string();
}

OutputFile::OutputFile(const std::filesystem::path& path, bool replace, std::uint64_t most_bytes,
                       const KeptFile& kept)
    : path_(path), target_(follow_links(path)), replace_(replace), most_bytes_(most_bytes) {
  require_no_address(path.native());
  if (kept.name.empty()) return;
  kept_ = directory_of(target_) / kept.name;
  if (is_kept_name(target_, kept.name)) return;
  throw Error(ErrorKind::output,
              kept_.string() + ": is no file that was kept for " + path_.string(), {.path = kept_});
}

// Delegates, so that the destructor cleans up if a later step throws.
OutputFile::OutputFile(const std::filesystem::path& path, std::uint64_t bytes, bool replace,
                       Purpose purpose, const KeptFile& kept)
    : OutputFile(path, replace, bytes, kept) {
  const DiskCall waits;
  require_replaceable(path_, target_, replace);
  if (purpose == Purpose::join) {
    join();
    return;
  }
  if (purpose != Purpose::dry_run) remove_stale_temporaries(target_);
  if (!kept_.empty()) open_kept(kept.bytes);
  const Publishing way = try_publishing(target_, replace, kept_.empty());
  note_ = way.note;
  if (!is_there_) create(way.nameless);
  is_tmpfs_ = detail::is_tmpfs(descriptor_);
  const std::uint64_t taken = is_there_ ? bytes_taken() : 0;
  if (purpose != Purpose::append && bytes > taken && !has_space(bytes - taken)) {
    throw output_error("allocate", target_, ENOSPC);
  }
  if (is_there_ && purpose == Purpose::write) trim(bytes);
  if (purpose != Purpose::dry_run) allocate(bytes, purpose);
  open_direct(bytes);
  // A kept file gets these rights at the end: until then, another process must be able to open it
  // for writing.
  if (replace_ && kept_.empty()) keep_rights();
}

/// Returns the space that the file has on the disk (bytes).
std::uint64_t OutputFile::bytes_taken() const {
  constexpr std::uint64_t block_bytes = 512;
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0
             ? static_cast<std::uint64_t>(status.st_blocks) * block_bytes
             : 0;
}

/// Creates the file under a name that no other one has.
void OutputFile::create_with_name(const std::filesystem::path& temporary) {
  const bool replaces = ::access(target_.c_str(), F_OK) == 0;
  descriptor_ = create_temporary(temporary, replaces ? private_mode : mode);
  if (descriptor_ >= 0) {
    temporary_ = temporary;
  } else if (errno != EEXIST) {
    throw output_error("create", target_);
  }
}

/// Creates the file. `nameless`: without a name (O_TMPFILE), which it gets at the end.
void OutputFile::create(bool nameless) {
  if (nameless) {
    descriptor_ = ::open(directory_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (descriptor_ < 0) throw output_error("create", target_);
    lock_temporary(descriptor_);  // it gets a name when it replaces a file
    return;
  }
  // A process that was killed just now may still hold the lock of a kept file of this name.
  constexpr auto pause = std::chrono::milliseconds(20);
  for (int i = 0; descriptor_ < 0 && i < most_name_tries; ++i) {
    if (i != 0 && !kept_.empty()) {
      std::this_thread::sleep_for(pause);
      remove_stale_temporaries(target_);
    }
    create_with_name(kept_.empty() ? random_temporary(target_) : temporary_of(kept_));
  }
  if (descriptor_ >= 0) return;
  if (kept_.empty()) throw output_error("create", target_);
  throw Error(ErrorKind::output, kept_.string() + ": another run is writing it",
              {.path = kept_, .hint = "wait for its end, or end it"});
}

/// Gives the new file the access rights of the file that it replaces: owner and group as far as
/// this process may set them, and the mode. Failures are ignored, because some file systems have no
/// owners or modes.
void OutputFile::keep_rights() {
  struct stat replaced {
  }, ours{};
  if (::stat(target_.c_str(), &replaced) != 0 || ::fstat(descriptor_, &ours) != 0) return;
  constexpr mode_t all = S_IRWXU | S_IRWXG | S_IRWXO;
  mode_t rights = replaced.st_mode & all;
  if (replaced.st_uid != ours.st_uid || replaced.st_gid != ours.st_gid) {
    constexpr uid_t same_owner = static_cast<uid_t>(-1);
    const bool given = ::fchown(descriptor_, replaced.st_uid, replaced.st_gid) == 0 ||
                       ::fchown(descriptor_, same_owner, replaced.st_gid) == 0;
    // The group is a different one: give it no more than others have.
    if (!given) rights = (rights & ~mode_t{S_IRWXG}) | (rights & S_IRWXO) << 3;
  }
  if (rights != (ours.st_mode & all)) std::ignore = ::fchmod(descriptor_, rights);
}

/// False if the free space is known to be smaller. Checked before fallocate(), which would take all
/// free space from other programs before it fails.
bool OutputFile::has_space(std::uint64_t bytes) const {
  struct statvfs status {};
  const bool known = ::fstatvfs(descriptor_, &status) == 0 && status.f_blocks != 0;  // 0: no limit
  // Use f_bavail for root too: uid 0 in a container may lack CAP_SYS_RESOURCE.
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  return !known || free >= bytes;
}

void OutputFile::allocate(std::uint64_t bytes, Purpose purpose) {
  if (bytes == 0) return;
  const FileSizeSignal blocked;
  if (!is_tmpfs_) {
    if (purpose == Purpose::append) {
      if (is_there_) allocated_ = std::min(bytes_taken(), bytes);
      return;
    }
    const int errno_value = allocate_to(bytes);
    if (errno_value != 0) throw output_error("allocate", target_, errno_value);
    return;
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    if (purpose == Purpose::append) return;  // more than the limit on file sizes: no mapping
    throw output_error("allocate", target_);
  }
  mapped_ = std::make_unique<MappedOutput>(descriptor_, bytes, purpose);
}

/// Allocates the part of the file before `bytes` that is not allocated yet. Returns 0 or an errno.
int OutputFile::allocate_to(std::uint64_t bytes) {
  const FileSizeSignal blocked;
  int errno_value = allocate_range(descriptor_, allocated_, bytes - allocated_);
  if (lacks_fallocate(errno_value)) {
    errno_value = ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  }
  if (errno_value == 0) allocated_ = bytes;
  return errno_value;
}

void OutputFile::grow(std::uint64_t bytes) {
  const DiskCall waits;
  int errno_value = 0;
  if (mapped_) {
    errno_value = mapped_->grow(bytes);
  } else if (bytes > allocated_ && !is_tmpfs_) {
    // No more than twice what it has: of many files, each takes little beyond its data.
    const std::uint64_t more = std::min(std::max(allocated_, least_growth_bytes), growth_bytes);
    const std::uint64_t ample = std::min(std::max(bytes, allocated_ + more), most_bytes_);
    constexpr std::uint64_t share = 4;  // of what is free, at most: other outputs grow, too
    if (has_space(share * (ample - allocated_)) && allocate_to(ample) == 0) return;
    errno_value = has_space(bytes - allocated_) ? allocate_to(bytes) : ENOSPC;
  }
  if (errno_value != 0) throw output_error("allocate", target_, errno_value);
}

void OutputFile::trim(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw output_error("set the size of", target_);
  }
}

/// Opens a descriptor for direct I/O and tries a write, because some file systems accept O_DIRECT
/// in open() and refuse the write.
void OutputFile::open_direct(std::uint64_t bytes) {
  if (is_tmpfs_) {
    why_not_direct_ = "tmpfs has no disk under it";
    return;
  }
  if (bytes < page_bytes) {
    why_not_direct_ = "the output is smaller than a page";
    return;
  }
  why_not_direct_ = objection_to_direct_io(descriptor_);
  if (!why_not_direct_.empty()) return;
  // Open through /proc, because the file may have no name. Flags belong to descriptors, so a second
  // one is needed.
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor_);
  direct_ = ::open(self.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT);
  if (direct_ < 0) {
    why_not_direct_ = "the file system refused to open it with O_DIRECT: " + describe_errno(errno);
    return;
  }
  alignas(page_bytes) std::array<std::byte, page_bytes> page{};
  if (is_there_ && ::pread(descriptor_, page.data(), page.size(), 0) < 0) {
    throw output_error("read", kept_);
  }
  const ssize_t written = try_write(0, page, true);
  if (written == ssize_t{page_bytes}) return;
  why_not_direct_ = written < 0 ? "the file system refused an O_DIRECT test write: " +
                                      describe_errno(static_cast<int>(-written))
                                : "an O_DIRECT test write came back short";
  ::close(std::exchange(direct_, -1));
}

void OutputFile::write(std::uint64_t offset, std::span<const std::byte> data) {
  Repeats repeats;
  while (!data.empty()) {
    const DiskCall waits;
    const ssize_t written = try_write(offset, data, false);
    if (written == -EINTR && repeats.may_repeat()) continue;
    if (written < 0) throw write_error(static_cast<int>(-written), offset);
    if (written == 0) throw write_error(EIO, offset);  // a retry would not make progress
    repeats.reset();
    offset += static_cast<std::uint64_t>(written);
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

ssize_t OutputFile::try_write(std::uint64_t offset, std::span<const std::byte> data,
                              bool direct) noexcept {
  if (mapped_ && mapped_->holds(offset, data.size())) {
    const int errno_value = mapped_->write(offset, data);
    if (errno_value == 0) return static_cast<ssize_t>(data.size());
    if (errno_value != EINVAL) return -errno_value;
  }
  const FileSizeSignal blocked;
  const ssize_t written = ::pwrite(direct ? direct_ : descriptor_, data.data(), data.size(),
                                   static_cast<off_t>(offset));
  return written < 0 ? -errno : written;
}

Error OutputFile::write_error(int errno_value, std::uint64_t offset) const {
  return output_error("write", target_, errno_value, offset);
}

OutputFile::~OutputFile() {
  mapped_.reset();
  if (!temporary_.empty() && !is_kept_) ::unlink(temporary_.c_str());
  if (direct_ >= 0) ::close(direct_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ooc::detail
