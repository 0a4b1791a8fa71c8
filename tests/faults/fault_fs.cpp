// A file system that shows a directory and fails on demand:
//
//   fault_fs MOUNT_POINT DIRECTORY [FAULT=NUMBER]...
//
//   read_error_at=BYTE   reads of this byte fail with EIO
//   short_reads=SEED     reads of more than a page return a part
//   interrupted=SEED     a quarter of the reads fail with EINTR or EAGAIN
//   flip_at=BYTE         every second read of this byte returns it with its lowest bit flipped
//   stall_at=BYTE        reads from this byte on wait while DIRECTORY/.stall exists; each of them
//                        appends a byte to that file
//   stall_after=BYTES    the same for all reads after so many bytes in all
//   stall_open=1         opening a file waits in the same way
//   stall_write_at=BYTE  writes from this byte on do
//   link_error=ERRNO     hard links fail with this error
//   new_name_error=ERRNO renames that must replace nothing (RENAME_NOREPLACE) do
//   rename_error=ERRNO   all renames do
//   room=BYTES           writes fail with ENOSPC after this many bytes in all
//   short_writes=SEED    writes write a part
//   fsync_errors=N       the first N fsync of files fail with EIO
//
// It stays in the foreground and prints "fsync" for each fsync of a file.

#define FUSE_USE_VERSION 31

#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

struct Faults {
  std::uint64_t read_error_at = never;
  std::uint64_t short_reads = 0;
  std::uint64_t interrupted = 0;
  std::uint64_t flip_at = never;
  std::uint64_t stall_at = never;
  std::uint64_t stall_after = never;
  std::uint64_t stall_open = 0;
  std::uint64_t stall_write_at = never;
  std::uint64_t link_error = 0;
  std::uint64_t new_name_error = 0;
  std::uint64_t rename_error = 0;
  std::uint64_t room = never;
  std::uint64_t short_writes = 0;
  std::uint64_t fsync_errors = 0;
};

const std::map<std::string_view, std::uint64_t Faults::*> fault_names{
    {"read_error_at", &Faults::read_error_at}, {"short_reads", &Faults::short_reads},
    {"interrupted", &Faults::interrupted},     {"flip_at", &Faults::flip_at},
    {"stall_at", &Faults::stall_at},           {"stall_after", &Faults::stall_after},
    {"stall_open", &Faults::stall_open},       {"stall_write_at", &Faults::stall_write_at},
    {"link_error", &Faults::link_error},       {"new_name_error", &Faults::new_name_error},
    {"rename_error", &Faults::rename_error},   {"room", &Faults::room},
    {"short_writes", &Faults::short_writes},   {"fsync_errors", &Faults::fsync_errors},
};

std::string directory;
Faults faults;
std::atomic<std::uint64_t> bytes_read{0};
std::atomic<std::uint64_t> written{0};
std::atomic<std::uint64_t> fsyncs{0};
std::atomic<std::uint64_t> reads_of_flipped{0};

std::string real(const char* path) {
  return directory + path;
}

int result_of(long result) {
  return result < 0 ? -errno : static_cast<int>(result);
}

std::uint64_t random_below(std::uint64_t seed, std::uint64_t end) {
  static std::mutex mutex;
  static std::mt19937_64 generator{seed};
  const std::lock_guard lock(mutex);
  return std::uniform_int_distribution<std::uint64_t>{0, end - 1}(generator);
}

int descriptor_of(const fuse_file_info* file) {
  return static_cast<int>(file->fh);
}

/// Waits until .stall is removed. The length of that file is the number of reads that hang.
void stall() {
  const std::string path = directory + "/.stall";
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return;
  if (::write(descriptor, "r", 1) != 1) std::perror("fault_fs: .stall");
  ::close(descriptor);
  while (std::filesystem::exists(path)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

int open_with(const char* path, int flags, mode_t mode, fuse_file_info* file) {
  // Without O_DIRECT, reads of the file beneath need no alignment.
  const int descriptor = ::open(real(path).c_str(), flags & ~O_DIRECT, mode);
  if (descriptor < 0) return -errno;
  file->fh = static_cast<std::uint64_t>(descriptor);
  file->direct_io = 1;  // the kernel passes on each read as the program made it
  return 0;
}

int open_file(const char* path, fuse_file_info* file) {
  if (faults.stall_open != 0) stall();
  return open_with(path, file->flags, 0, file);
}

int create(const char* path, mode_t mode, fuse_file_info* file) {
  return open_with(path, file->flags | O_CREAT, mode, file);
}

int release(const char* /*path*/, fuse_file_info* file) {
  return result_of(::close(descriptor_of(file)));
}

int read_file(const char* /*path*/, char* data, std::size_t bytes, off_t offset,
              fuse_file_info* file) {
  const auto begin = static_cast<std::uint64_t>(offset);
  const std::uint64_t end = begin + bytes;
  if (end > faults.stall_at || bytes_read > faults.stall_after) stall();
  if (begin <= faults.read_error_at && faults.read_error_at < end) return -EIO;
  if (faults.interrupted != 0 && bytes > page_bytes) {
    const std::uint64_t fate = random_below(faults.interrupted, 8);
    if (fate < 2) return fate == 0 ? -EINTR : -EAGAIN;
  }
  if (faults.short_reads != 0 && bytes > page_bytes) {
    bytes = 1 + random_below(faults.short_reads, bytes);
  }
  const int got = result_of(::pread(descriptor_of(file), data, bytes, offset));
  if (got > 0) bytes_read += static_cast<std::uint64_t>(got);
  const bool has_flipped = got > 0 && begin <= faults.flip_at &&
                           faults.flip_at - begin < static_cast<std::uint64_t>(got);
  if (has_flipped && reads_of_flipped++ % 2 == 1) data[faults.flip_at - begin] ^= 1;
  return got;
}

int write_file(const char* /*path*/, const char* data, std::size_t bytes, off_t offset,
               fuse_file_info* file) {
  if (static_cast<std::uint64_t>(offset) + bytes > faults.stall_write_at) stall();
  if (written.fetch_add(bytes) + bytes > faults.room) return -ENOSPC;
  if (faults.short_writes != 0) bytes = 1 + random_below(faults.short_writes, bytes);
  return result_of(::pwrite(descriptor_of(file), data, bytes, offset));
}

int fsync_file(const char* /*path*/, int /*data_only*/, fuse_file_info* file) {
  std::puts("fsync");
  std::fflush(stdout);
  if (fsyncs++ < faults.fsync_errors) return -EIO;
  return result_of(::fsync(descriptor_of(file)));
}

int status(const char* path, struct stat* status, fuse_file_info* file) {
  return result_of(file != nullptr ? ::fstat(descriptor_of(file), status)
                                   : ::lstat(real(path).c_str(), status));
}

int truncate_file(const char* path, off_t bytes, fuse_file_info* file) {
  return result_of(file != nullptr ? ::ftruncate(descriptor_of(file), bytes)
                                   : ::truncate(real(path).c_str(), bytes));
}

int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t /*offset*/,
                   fuse_file_info* /*file*/, fuse_readdir_flags /*flags*/) {
  for (const auto& entry : std::filesystem::directory_iterator(real(path))) {
    fill(buffer, entry.path().filename().c_str(), nullptr, 0, {});
  }
  return 0;
}

int unlink_file(const char* path) {
  return result_of(::unlink(real(path).c_str()));
}

int link_file(const char* from, const char* to) {
  if (faults.link_error != 0) return -static_cast<int>(faults.link_error);
  return result_of(::link(real(from).c_str(), real(to).c_str()));
}

int rename_file(const char* from, const char* to, unsigned flags) {
  if (faults.rename_error != 0) return -static_cast<int>(faults.rename_error);
  if (flags != 0 && faults.new_name_error != 0) return -static_cast<int>(faults.new_name_error);
  return result_of(::renameat2(AT_FDCWD, real(from).c_str(), AT_FDCWD, real(to).c_str(), flags));
}

void* start(fuse_conn_info* /*connection*/, fuse_config* config) {
  config->hard_remove = 1;  // else a file removed while it is open appears under another name
  return nullptr;
}

int usage(const std::string& what) {
  std::fprintf(stderr, "fault_fs: %s; its usage is in its source\n", what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return usage("too few words");
  directory = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return usage("no number in " + std::string{word});
    const std::string_view name = word.substr(0, equals);
    const std::uint64_t number = std::strtoull(argv[i] + equals + 1, nullptr, 10);
    const auto fault = fault_names.find(name);
    if (fault == fault_names.end()) return usage("unknown fault " + std::string{name});
    faults.*fault->second = number;
  }
  fuse_operations operations{};
  operations.init = start;
  operations.getattr = status;
  operations.unlink = unlink_file;
  operations.rename = rename_file;
  operations.link = link_file;
  operations.truncate = truncate_file;
  operations.open = open_file;
  operations.create = create;
  operations.read = read_file;
  operations.write = write_file;
  operations.release = release;
  operations.fsync = fsync_file;
  operations.readdir = read_directory;
  std::vector<std::string> words{argv[0], "-f", argv[1]};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return fuse_main(static_cast<int>(pointers.size()), pointers.data(), &operations, nullptr);
}
