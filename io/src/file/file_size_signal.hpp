#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace ooc::detail {

/// During its lifetime, writes and allocations of the calling thread beyond the file size limit
/// (RLIMIT_FSIZE) only fail with EFBIG. The kernel also sends SIGXFSZ, which would end a program
/// that uses the library; this class blocks the signal and discards a pending one in its
/// destructor. Preserves errno.
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

}  // namespace ooc::detail
