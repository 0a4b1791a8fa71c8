#pragma once

#include <ooc/detail/base/language.hpp>

#include <csignal>

namespace ooc::detail {

/// Blocks signals on the calling thread during its lifetime. Threads that are started meanwhile
/// inherit the mask and keep it, so the signal handlers of a program that uses the library never
/// run on a thread of the library. Signals that report a fault of the thread (SIGSEGV, SIGBUS,
/// SIGABRT ...) are not blocked, so that crash handlers work; nor is SIGPROF, with which profilers
/// sample all threads. Child processes of such a thread inherit the mask.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// Gives the calling thread, one that was started meanwhile, the mask from before.
  void unblock_here() const noexcept;

 private:
  sigset_t before_;
};

}  // namespace ooc::detail
