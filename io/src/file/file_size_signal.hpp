#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace ooc {

/// While it lives, what the calling thread writes or allocates beyond the limit on file sizes
/// (RLIMIT_FSIZE) fails with EFBIG and nothing else. The kernel sends SIGXFSZ too, which would end
/// the program that uses the library: it is blocked, and dropped at the end. Leaves errno alone.
class FileSizeSignal {
 public:
  FileSizeSignal() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signal_, &before);
    was_blocked_ = sigismember(&before, SIGXFSZ) == 1;
  }
  ~FileSizeSignal() {
    if (was_blocked_) return;
    const int errno_value = errno;
    constexpr timespec at_once{};
    sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
    errno = errno_value;
  }
  FileSizeSignal(const FileSizeSignal&) = delete;
  FileSizeSignal& operator=(const FileSizeSignal&) = delete;

 private:
  sigset_t signal_;
  bool was_blocked_;
};

}  // namespace ooc
