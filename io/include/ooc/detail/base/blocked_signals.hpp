#pragma once

#include <ooc/io/language.hpp>

#include <csignal>

namespace ooc {

/// Blocks signals on the calling thread while it lives. Threads that are started meanwhile keep
/// them blocked for as long as they run: so the signal handlers of a program that uses the library
/// never run on a thread of the library. Signals by which a thread reports a fault of its own
/// (SIGSEGV, SIGBUS, SIGABRT ...) stay as they are, so that handlers that report a crash work, and
/// so does SIGPROF, by which profilers sample all threads. Processes that such a thread starts
/// inherit what it blocks.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ooc
