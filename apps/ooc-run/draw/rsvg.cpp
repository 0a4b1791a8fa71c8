#include "draw/rsvg.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ooc/error.hpp>

namespace ooc_run {
namespace {

constexpr const char* program = "rsvg-convert";

[[noreturn]] void refuse(int errno_value, const std::string& what) {
  throw ooc::Error::from_errno(ooc::ErrorKind::output, what, errno_value);
}

/// Throws if a call that returns an errno failed.
void require(int errno_value, const std::string& what) {
  if (errno_value != 0) refuse(errno_value, what);
}

/// An anonymous file in memory. Unlike pipes, such files for the child's input and output cannot
/// cause a deadlock.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("picture", MFD_CLOEXEC)) {
    if (descriptor_ < 0) refuse(errno, "memfd_create");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  /// Writes the text without moving the file offset: the child reads from the beginning.
  void fill(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t part =
          pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (part < 0) refuse(errno, "write");
      done += static_cast<std::size_t>(part);
    }
  }

  std::string content() const {
    std::string text;
    std::array<char, 65536> piece;
    for (;;) {
      const ssize_t part =
          pread(descriptor_, piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (part < 0) refuse(errno, "read");
      if (part == 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(part));
    }
  }

 private:
  int descriptor_;
};

/// Settings of the child process: its standard streams and its signals. Signals that we ignore have
/// their default action in the child. It inherits our mask of blocked signals, so that Ctrl-C does
/// not end it before we have shut down in order.
class SpawnSettings {
 public:
  /// Delegates to another constructor, so that the destructor runs if a setting fails here.
  SpawnSettings(const MemoryFile& input, const MemoryFile& output, const MemoryFile& complaints)
      : SpawnSettings() {
    const std::array files{&input, &output, &complaints};
    for (int target = 0; target < 3; ++target) {
      const int descriptor = files[static_cast<std::size_t>(target)]->descriptor();
      require(posix_spawn_file_actions_adddup2(&actions_, descriptor, target),
              "posix_spawn_file_actions_adddup2");
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    require(posix_spawnattr_setsigdefault(&attributes_, &signals), "posix_spawnattr_setsigdefault");
    require(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF),
            "posix_spawnattr_setflags");
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  /// Runs the program and returns the status from waitpid(). Throws Error(output) if it cannot be
  /// started.
  int run(char* const words[], const std::filesystem::path& path) const {
    pid_t process = 0;
    const int error = posix_spawnp(&process, words[0], &actions_, &attributes_, words, environ);
    if (error == ENOENT) {
      throw ooc::Error(ooc::ErrorKind::output,
                       fmt::format("{}: {}: not found", path.string(), program),
                       {.path = path,
                        .why = "it makes PNG out of SVG",
                        .hint = "apt-get install librsvg2-bin, or --plot a file named .svg"});
    }
    if (error != 0) refuse(error, fmt::format("starting {}", program));
    int status = 0;
    while (waitpid(process, &status, 0) < 0) {
      if (errno != EINTR) refuse(errno, "waitpid");
    }
    return status;
  }

 private:
  SpawnSettings() {
    require(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    const int refused = posix_spawnattr_init(&attributes_);
    if (refused == 0) return;
    posix_spawn_file_actions_destroy(&actions_);
    refuse(refused, "posix_spawnattr_init");
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string png_of(const std::string& svg, const std::filesystem::path& path) {
  const MemoryFile input, output, complaints;
  input.fill(svg);
  std::array<std::string, 3> words{program, "--zoom", "2"};
  std::array<char*, 4> pointers{words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int status = SpawnSettings(input, output, complaints).run(pointers.data(), path);
  std::string png = output.content();
  if (status == 0 && !png.empty()) return png;
  std::string why = complaints.content();
  why.resize(std::min(why.find('\n'), why.size()));
  if (why.empty()) {
    why = status == 0 ? "it wrote nothing" : fmt::format("it ended with status {:#x}", status);
  }
  throw ooc::Error(
      ooc::ErrorKind::output, fmt::format("{}: {} failed", path.string(), program),
      {.path = path, .why = why, .hint = "--plot a file named .svg, which takes no other program"});
}

}  // namespace ooc_run
