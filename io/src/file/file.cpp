#include "file/file_system.hpp"
#include "file/input_errors.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/http/address.hpp>
#include <ooc/detail/http/remote_object.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace ooc::detail {
namespace {

std::string_view kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "directory";
    case S_IFIFO: return "FIFO";
    case S_IFSOCK: return "socket";
    case S_IFCHR: return "character device";
    default: return "special file";
  }
}

bool is_readable_kind(mode_t mode) {
  return S_ISREG(mode) || S_ISBLK(mode);
}

Error wrong_kind(const std::filesystem::path& path, mode_t mode) {
  return Error(ErrorKind::bad_input, path.string() + ": is a " + std::string{kind_of(mode)},
               {.path = path,
                .why = "only regular files and block devices can be read at any place, and twice",
                .hint = S_ISDIR(mode) ? "name the files in it"
                                      : "save its data to a file first; a file that is standard "
                                        "input can be read: /dev/stdin < FILE"});
}

Error cannot_open(const std::filesystem::path& path, int errno_value) {
  if (errno_value == ENOENT && !scheme_of(path.native()).empty()) {
    const std::string shown = shown_address(path.native());
    return Error(ErrorKind::bad_input,
                 shown + ": only local files and https://, http:// and s3:// are read",
                 {.path = shown, .hint = "copy it to this machine first, or mount what holds it"});
  }
  // open() fails on sockets with ENXIO. Name the kind of file instead of "No such device or
  // address".
  struct stat status {};
  if (errno_value == ENXIO && ::stat(path.c_str(), &status) == 0 &&
      !is_readable_kind(status.st_mode)) {
    return wrong_kind(path, status.st_mode);
  }
  std::string hint;
  if (errno_value == ENOENT) hint = "check the name and the directory it is looked up in";
  if (errno_value == EMFILE) hint = "raise the limit on open files (ulimit -n)";
  if (errno_value == EACCES) {
    hint = "`namei -l " + shell_word(path) + "` shows who may read it and enter its directories";
  }
  return Error::from_errno(ErrorKind::input, "open", errno_value, shown_word(path.native()), {},
                           hint);
}

std::uint64_t size_of(int descriptor, const struct stat& status,
                      const std::filesystem::path& path) {
  if (S_ISREG(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
  std::uint64_t size = 0;
  if (::ioctl(descriptor, BLKGETSIZE64, &size) != 0) {
    throw Error::from_errno(ErrorKind::input, "asking for its size", errno, path);
  }
  return size;
}

/// Reads the first block with direct I/O. A whole block is read, because the partial one at the end
/// of a file can succeed where no other does. Returns the number of bytes read, or a negated errno.
ssize_t test_read(int descriptor) {
  alignas(page_bytes) std::array<std::byte, page_bytes> block;
  const ssize_t got =
      repeat_read([&] { return ::pread(descriptor, block.data(), block.size(), 0); });
  return got < 0 ? -errno : got;
}

/// True for the errors of file systems without direct reads. Other errors come from the disk.
bool refuses_direct_reads(int errno_value) {
  return errno_value == EINVAL || errno_value == EOPNOTSUPP;
}

/// Clears O_NONBLOCK. open() needs it because the path may be that of a FIFO. Reads must not have
/// it: io_uring never hands requests of such a file to a worker thread that may block, so they fail
/// with EAGAIN where a layer above the disk may block (seen with device-mapper targets on Linux
/// 6.1).
void make_blocking(int descriptor, const std::filesystem::path& path) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    throw Error::from_errno(ErrorKind::input, "fcntl", errno, path);
  }
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// True if mode, owner or number of links differ, which explains a different ctime.
bool has_other_attributes(const struct stat& a, const struct stat& b) {
  return a.st_mode != b.st_mode || a.st_uid != b.st_uid || a.st_gid != b.st_gid ||
         a.st_nlink != b.st_nlink;
}

}  // namespace

Error changed_error(const std::filesystem::path& path, std::string why) {
  return {ErrorKind::input_changed,
          path.string() + ": changed while it was read",
          {.path = path,
           .why = std::move(why),
           .hint = "run again when nothing writes to it any more"}};
}

File File::open(const std::filesystem::path& path) {
  File file;
  if (auto address = parse_address(path.native())) {
    file.remote_ = std::make_shared<const RemoteObject>(std::move(*address));
    file.path_ = file.remote_->address().name;
    file.size_ = file.remote_->size();
    file.opened_.st_mtim.tv_sec = file.remote_->modified_seconds();
    file.why_not_direct_ = "it is on a server";
    return file;
  }
  const DiskCall waits;
  file.path_ = path;
  // O_NONBLOCK: opening a FIFO would otherwise block until a writer opens it.
  file.buffered_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.buffered_ < 0) throw cannot_open(path, errno);
  struct stat status {};
  if (::fstat(file.buffered_, &status) != 0) {
    throw Error::from_errno(ErrorKind::input, "stat", errno, path);
  }
  if (!is_readable_kind(status.st_mode)) throw wrong_kind(path, status.st_mode);
  make_blocking(file.buffered_, path);
  const long file_system = file_system_of(file.buffered_);
  if (file_system == PROC_SUPER_MAGIC || file_system == SYSFS_MAGIC) {
    throw Error(ErrorKind::bad_input, path.string() + ": is made up by the kernel as it is read",
                {.path = path,
                 .why = "files of procfs and sysfs have no size",
                 .hint = "copy it to a file first"});
  }
  file.size_ = size_of(file.buffered_, status, path);
  file.opened_ = status;
  file.open_direct();
  return file;
}

File File::in_memory(std::span<const std::byte> memory, std::string name) {
  File file;
  file.path_ = std::move(name);
  file.size_ = memory.size();
  file.memory_ = memory.data();
  file.why_not_direct_ = "it is in memory";
  return file;
}

File File::in_device_memory(std::span<const std::byte> memory, std::string name) {
  File file = in_memory(memory, std::move(name));
  file.is_on_device_ = true;
  return file;
}

File File::of_pieces(std::shared_ptr<const EncodedArray> array) {
  File file;
  file.path_ = array->name();
  file.size_ = array->size();
  for (const File& stored : array->files()) {
    if (stored.modified_ns() > file.modified_ns()) file.opened_ = stored.opened_;
  }
  file.why_not_direct_ = "its pieces are decoded";
  file.encoded_ = std::move(array);
  return file;
}

File File::unopened(std::filesystem::path path, const struct stat& status) {
  File file;
  file.path_ = std::move(path);
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  file.opened_ = status;
  file.is_unopened_ = true;
  return file;
}

File File::reopened() const {
  const DiskCall waits;
  File file;
  file.path_ = path_;
  file.size_ = size_;
  file.opened_ = opened_;
  file.buffered_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file.buffered_ < 0 && errno == ENOENT) {
    throw changed_error(path_, "it has been removed or renamed");
  }
  if (file.buffered_ < 0 && errno != ELOOP) throw cannot_open(path_, errno);
  struct stat now {};
  const bool is_file =
      file.buffered_ >= 0 && ::fstat(file.buffered_, &now) == 0 && S_ISREG(now.st_mode);
  if (!is_file || !file.is_in_its_place()) {
    throw changed_error(path_, "another file has taken its name");
  }
  return file;
}

void File::open_direct() {
  if (size_ < page_bytes) {
    why_not_direct_ = "it is smaller than a page";
    return;
  }
  if (is_tmpfs(buffered_)) {
    why_not_direct_ = "tmpfs has no disk under it";
    return;
  }
  why_not_direct_ = objection_to_direct_io(buffered_);
  if (!why_not_direct_.empty()) return;

  direct_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_DIRECT);
  if (direct_ < 0) {
    why_not_direct_ = "the file system refused to open it with O_DIRECT: " + describe_errno(errno);
    return;
  }
  struct stat ours {
  }, theirs{};
  const bool same = ::fstat(buffered_, &ours) == 0 && ::fstat(direct_, &theirs) == 0 &&
                    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  if (same) {
    make_blocking(direct_, path_);
    try_direct_read();
  } else {
    why_not_direct_ = "another file took its name while it was being opened";
  }
  if (!why_not_direct_.empty()) ::close(std::exchange(direct_, -1));
}

void File::try_direct_read() {
  const ssize_t got = test_read(direct_);
  if (got == ssize_t{page_bytes}) return;
  if (got >= 0) {
    why_not_direct_ = "an O_DIRECT test read came back short";
    return;
  }
  const int errno_value = static_cast<int>(-got);
  const bool is_refused = refuses_direct_reads(errno_value);
  why_not_direct_ = (is_refused ? "the file system refused an O_DIRECT test read: "
                                : "an O_DIRECT test read failed: ") +
                    describe_errno(errno_value);
  if (!is_refused) disk_errno_ = errno_value;
}

void File::check_unchanged() const {
  if (encoded_) std::ranges::for_each(encoded_->files(), &File::check_unchanged);
  if (is_unopened_) return reopened().check_unchanged();
  if (buffered_ < 0) return;
  const DiskCall waits;
  struct stat now {};
  if (::fstat(buffered_, &now) != 0)
    throw Error::from_errno(ErrorKind::input, "stat", errno, path_);
  const std::uint64_t size = size_of(buffered_, now, path_);
  if (size != size_) {
    throw changed_error(path_, "its size went from " + std::to_string(size_) + " to " +
                                   std::to_string(size) + " bytes");
  }
  if (!S_ISREG(now.st_mode)) return;  // the times of a block device are those of its node in /dev
  if (!same_time(now.st_mtim, opened_.st_mtim)) {
    throw changed_error(path_, "another program wrote to it");
  }
  const bool status_changed = !same_time(now.st_ctim, opened_.st_ctim);
  if (status_changed && !has_other_attributes(now, opened_) && is_in_its_place()) {
    throw changed_error(path_,
                        "its time of last change (ctime) moved, its time of last write did not: "
                        "another program may have written to it and set that time back");
  }
}

bool File::is_in_its_place() const noexcept {
  struct stat named {};
  return ::stat(path_.c_str(), &named) == 0 && named.st_dev == opened_.st_dev &&
         named.st_ino == opened_.st_ino;
}

bool File::is_as_it_was() const noexcept {
  if (encoded_) return std::ranges::all_of(encoded_->files(), &File::is_as_it_was);
  struct stat now {};
  if (is_unopened_) {
    return ::lstat(path_.c_str(), &now) == 0 && now.st_ino == opened_.st_ino &&
           same_time(now.st_ctim, opened_.st_ctim);
  }
  if (buffered_ < 0) return true;
  return is_in_its_place() && ::fstat(buffered_, &now) == 0 &&
         (!S_ISREG(now.st_mode) || same_time(now.st_ctim, opened_.st_ctim));
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      size_(other.size_),
      opened_(other.opened_),
      buffered_(std::exchange(other.buffered_, -1)),
      direct_(std::exchange(other.direct_, -1)),
      why_not_direct_(std::move(other.why_not_direct_)),
      disk_errno_(other.disk_errno_),
      memory_(other.memory_),
      is_on_device_(other.is_on_device_),
      is_unopened_(other.is_unopened_),
      remote_(std::move(other.remote_)),
      encoded_(std::move(other.encoded_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(opened_, other.opened_);
  std::swap(buffered_, other.buffered_);
  std::swap(direct_, other.direct_);
  std::swap(why_not_direct_, other.why_not_direct_);
  std::swap(disk_errno_, other.disk_errno_);
  std::swap(memory_, other.memory_);
  std::swap(is_on_device_, other.is_on_device_);
  std::swap(is_unopened_, other.is_unopened_);
  std::swap(remote_, other.remote_);
  std::swap(encoded_, other.encoded_);
  return *this;
}

File::~File() {
  if (buffered_ >= 0) ::close(buffered_);
  if (direct_ >= 0) ::close(direct_);
}

void read_exactly(const File& file, std::uint64_t offset, std::span<std::byte> memory) {
  if (file.remote() != nullptr) return file.remote()->read(offset, memory);
  if (file.encoded() != nullptr) return file.encoded()->read(offset, memory);
  if (file.is_on_device()) {
    throw Error(ErrorKind::usage, file.path().string() + ": is in the memory of a GPU",
                {.path = file.path(), .why = "this reads memory of the host"});
  }
  if (file.memory() != nullptr) {
    if (!memory.empty()) std::memcpy(memory.data(), file.memory() + offset, memory.size());
    return;
  }
  if (file.is_unopened()) {
    const File opened = file.reopened();
    read_exactly(opened, offset, memory);
    return opened.check_unchanged();
  }
  while (!memory.empty()) {
    const DiskCall waits;
    const ssize_t got = repeat_read([&] {
      return ::pread(file.buffered(), memory.data(), memory.size(), static_cast<off_t>(offset));
    });
    if (got < 0) throw read_error(file, offset, errno);
    if (got == 0) throw shrank_error(file, offset);
    offset += static_cast<std::uint64_t>(got);
    memory = memory.subspan(static_cast<std::size_t>(got));
  }
}

Error read_error(const File& file, std::uint64_t offset, int errno_value) {
  const Error error = Error::from_errno(ErrorKind::input, "read", errno_value, file.path(), offset);
  ErrorDetails details = error.details();
  if (errno_value == EIO) {
    details.why = "the disk could not deliver this block";
    details.hint = "check `dmesg` and the health of the drive";
  }
  return Error(error.kind(), error.what(), details);
}

Error shrank_error(const File& file, std::uint64_t end) {
  std::string message = file.path().string() + ": shrank while it was read";
  struct stat status {};
  const bool is_known = ::fstat(file.buffered(), &status) == 0 && S_ISREG(status.st_mode);
  if (is_known && static_cast<std::uint64_t>(status.st_size) < file.size()) {
    message += ", from " + std::to_string(file.size()) + " to " + std::to_string(status.st_size) +
               " bytes";
  } else {
    message += ": it ended at byte " + std::to_string(end);
  }
  return Error(ErrorKind::input_changed, message,
               {.path = file.path(),
                .offset = end,
                .why = "another program shortened it",
                .hint = "run again when nothing writes to it any more"});
}

}  // namespace ooc::detail
