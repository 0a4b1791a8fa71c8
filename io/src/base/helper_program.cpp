#include "base/helper_program.hpp"

#include <ooc/error.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace ooc::detail {
namespace {

[[noreturn]] void fail(const std::string& what, int errno_value) {
  throw Error::from_errno(ErrorKind::input, what, errno_value);
}

/// Throws Error(input) if a call that returns an errno failed.
void require(int errno_value, const std::string& what) {
  if (errno_value != 0) fail(what, errno_value);
}

/// A file in memory for what a program prints. Unlike a pipe it needs no reader meanwhile, and the
/// limit of the size of files holds for it.
class PrintedFile {
 public:
  PrintedFile() : descriptor_(::memfd_create("ooc-helper", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("memfd_create", errno);
  }
  ~PrintedFile() { ::close(descriptor_); }
  PrintedFile(const PrintedFile&) = delete;
  PrintedFile& operator=(const PrintedFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  /// Returns its bytes, or the first `most` of them. They are copied, since a program that still
  /// has the file may cut it.
  std::string content(std::uint64_t most) const {
    const off_t bytes = ::lseek(descriptor_, 0, SEEK_END);
    std::string text(
        std::min<std::uint64_t>(bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes), most), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t got =
          ::pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read", errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
  }

 private:
  int descriptor_;
};

/// The settings of posix_spawn(): the standard streams of the program, a process group of its own,
/// and the default action of all signals that programs ignore.
class SpawnActions {
 public:
  SpawnActions() {
    require(::posix_spawn_file_actions_init(&files_), "posix_spawn_file_actions_init");
    const int failed = ::posix_spawnattr_init(&attributes_);
    if (failed == 0) return;
    ::posix_spawn_file_actions_destroy(&files_);
    fail("posix_spawnattr_init", failed);
  }
  ~SpawnActions() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&files_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void set(const PrintedFile& output, const PrintedFile& complaints) {
    require(::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
            "posix_spawn_file_actions_addopen");
    for (const auto& [file, target] :
         {std::pair{&output, STDOUT_FILENO}, std::pair{&complaints, STDERR_FILENO}}) {
      require(::posix_spawn_file_actions_adddup2(&files_, file->descriptor(), target),
              "posix_spawn_file_actions_adddup2");
    }
    sigset_t ignored, blocked;
    ::sigemptyset(&blocked);
    ::sigemptyset(&ignored);
    for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      ::sigaddset(&ignored, number);
    }
    require(::posix_spawnattr_setsigdefault(&attributes_, &ignored),
            "posix_spawnattr_setsigdefault");
    require(::posix_spawnattr_setsigmask(&attributes_, &blocked), "posix_spawnattr_setsigmask");
    require(::posix_spawnattr_setpgroup(&attributes_, 0), "posix_spawnattr_setpgroup");
    require(
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP),
        "posix_spawnattr_setflags");
  }

  /// Starts a program and returns its process.
  pid_t start(const std::filesystem::path& program, std::string argument) const {
    const char* const language = std::getenv("LANG");
    std::string name = program.string();
    std::string lang = std::string("LANG=") + (language == nullptr ? "C.UTF-8" : language);
    std::array<char*, 3> words{name.data(), argument.data(), nullptr};
    std::array<char*, 2> environment{lang.data(), nullptr};
    pid_t process = 0;
    require(::posix_spawn(&process, name.c_str(), &files_, &attributes_, words.data(),
                          environment.data()),
            program.string() + ": start");
    return process;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// A program that was started. It, and what it has started, is killed at the end of this object.
class Helper {
 public:
  Helper(pid_t process, const HelperLimits& limits) : process_(process), limits_(limits) {}
  ~Helper() {
    if (is_gone_) return;
    ::kill(-process_, SIGKILL);  // it still has its number
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// Limits what it may take. It has begun, but what it has taken before is little.
  void limit() const {
    const std::uint64_t seconds =
        static_cast<std::uint64_t>(limits_.time.count()) / std::chrono::milliseconds::period::den +
        1;
    const std::array<std::pair<__rlimit_resource, std::uint64_t>, 4> all{
        {{RLIMIT_AS, limits_.memory_bytes},
         {RLIMIT_FSIZE, limits_.output_bytes},
         {RLIMIT_CPU, seconds},
         {RLIMIT_CORE, 0}}};
    for (const auto& [resource, most] : all) {
      const struct rlimit64 limit { most, most };
      const bool failed = ::prlimit64(process_, resource, &limit, nullptr) != 0;
      if (failed && errno != ESRCH) fail("prlimit", errno);  // wait() notices that it is gone
    }
  }

  /// Waits for its end and returns why its output is not to be used; empty if it succeeded.
  std::string wait() {
    const auto deadline = std::chrono::steady_clock::now() + limits_.time;
    siginfo_t ended{};
    while (ended.si_pid == 0) {
      if (::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno == EINTR) continue;
        is_gone_ = true;
        return "its end was not seen, because SIGCHLD is ignored";
      }
      if (ended.si_pid != 0) break;
      if (std::chrono::steady_clock::now() >= deadline) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limits_.time);
        return "it took more than " + std::to_string(seconds.count()) + " s";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (ended.si_code == CLD_EXITED) {
      if (ended.si_status == 0) return {};
      return "it ended with exit code " + std::to_string(ended.si_status);
    }
    return ended.si_status == SIGXFSZ
               ? "it printed more than " + std::to_string(limits_.output_bytes) + " bytes"
               : "signal " + std::to_string(ended.si_status) + " ended it";
  }

 private:
  pid_t process_;
  const HelperLimits& limits_;
  bool is_gone_ = false;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::filesystem::path find_helper(const std::string& name, const char* variable) {
  if (const char* const named = ::secure_getenv(variable); named != nullptr && *named != '\0') {
    return named;
  }
  std::error_code ignored;
  std::array<std::filesystem::path, 2> files{
      std::filesystem::read_symlink("/proc/self/exe", ignored), {}};
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&find_helper), &library) != 0) {
    files[1] = library.dli_fname;
  }
  for (const std::filesystem::path& file : files) {
    if (!file.is_absolute()) continue;  // of a program it is the word by which it was called
    for (const std::string_view place : {"", "../libexec/ooc", "../../libexec/ooc"}) {
      std::filesystem::path program = (file.parent_path() / place / name).lexically_normal();
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return {};
}

HelperRun run_helper(const std::filesystem::path& program, const std::string& argument,
                     const HelperLimits& limits) {
  const PrintedFile output, complaints;
  SpawnActions actions;
  actions.set(output, complaints);
  HelperRun run;
  {
    Helper helper(actions.start(program, argument), limits);
    helper.limit();
    run.failure = helper.wait();
    if (run.failure.empty() && output.content(1).empty()) run.failure = "it printed nothing";
  }
  constexpr std::uint64_t most_words = 500;
  run.complaint = first_line(complaints.content(most_words));
  if (run.failure.empty()) run.output = output.content(limits.output_bytes);
  return run;
}

}  // namespace ooc::detail
