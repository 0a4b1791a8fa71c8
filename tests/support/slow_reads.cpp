// Makes a program read slowly, so that a test finds it at work on any machine. LD_PRELOAD loads it.
//
// While the directory $SLOW_READS exists, each read of data takes 20 ms, one at a time in each
// process, which makes a file in the directory that has its number for a name.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr std::size_t least_bytes = 65536;  // shorter reads are of headers and samples
constexpr std::chrono::milliseconds time_of_a_read{20};

using Read = ssize_t (*)(int, void*, std::size_t, off_t);

void take_time() {
  const char* const directory = std::getenv("SLOW_READS");
  if (directory == nullptr) return;
  const std::string path = std::string(directory) + "/" + std::to_string(::getpid());
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  ::close(file);
  std::this_thread::sleep_for(time_of_a_read);
}

ssize_t read_slowly(int descriptor, void* data, std::size_t bytes, off_t offset) {
  static const auto read = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "pread64"));
  if (bytes >= least_bytes) take_time();
  return read(descriptor, data, bytes, offset);
}

}  // namespace

// The names of pread() in the C library, by which a program calls it in one way of compiling or the
// other.
extern "C" {
[[gnu::visibility("default")]] ssize_t slow_pread(int, void*, std::size_t, off_t) __asm__("pread");
[[gnu::visibility("default")]] ssize_t slow_pread64(int, void*, std::size_t,
                                                    off_t) __asm__("pread64");
[[gnu::visibility("default")]] ssize_t slow_pread_chk(int, void*, std::size_t, off_t,
                                                      std::size_t) __asm__("__pread_chk");
[[gnu::visibility("default")]] ssize_t slow_pread64_chk(int, void*, std::size_t, off_t,
                                                        std::size_t) __asm__("__pread64_chk");

ssize_t slow_pread(int descriptor, void* data, std::size_t bytes, off_t offset) {
  return read_slowly(descriptor, data, bytes, offset);
}
ssize_t slow_pread64(int descriptor, void* data, std::size_t bytes, off_t offset) {
  return read_slowly(descriptor, data, bytes, offset);
}
ssize_t slow_pread_chk(int descriptor, void* data, std::size_t bytes, off_t offset, std::size_t) {
  return read_slowly(descriptor, data, bytes, offset);
}
ssize_t slow_pread64_chk(int descriptor, void* data, std::size_t bytes, off_t offset, std::size_t) {
  return read_slowly(descriptor, data, bytes, offset);
}
}
