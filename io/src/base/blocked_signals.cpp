#include <ooc/detail/base/blocked_signals.hpp>

#include <initializer_list>

namespace ooc::detail {

BlockedSignals::BlockedSignals() noexcept {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    sigdelset(&signals, fault);
  }
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

BlockedSignals::~BlockedSignals() {
  unblock_here();
}

void BlockedSignals::unblock_here() const noexcept {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ooc::detail
