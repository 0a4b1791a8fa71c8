#pragma once

#include <atomic>
#include <csignal>
#include <mutex>
#include <ooc/error.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace ooc_run {

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request, and ends the process if that takes longer
/// than 0.8 s or the user signals again. Signals within 0.2 s of the first are the same request:
/// coreutils' timeout signals its child and then the group of the child. Construct it before any
/// other thread: all threads inherit the mask that blocks these signals, and a thread of this class
/// waits for them.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// Lifts the limit of 0.8 s. To be called when the run has ended and only files are left to be
  /// written. Another signal still ends the process.
  void allow_more_time() const noexcept { more_time_ = true; }

  /// Sets the document that is printed to stdout, before an error, if a signal ends the process; it
  /// may be empty. Nothing is printed without one, as at first. After this has returned, an earlier
  /// document is not printed.
  void set_last_words(std::optional<std::string> document);

  /// Says the last words and an error, and ends the process, whose other threads may be inside a
  /// read.
  [[noreturn]] void end(const ooc::Error& error) const;

  /// Returns 130 after SIGINT, 143 after SIGTERM, else 0.
  int exit_code() const noexcept;

 private:
  void watch(const std::stop_token& finished);

  mutable std::mutex mutex_;  // of the last words
  std::optional<std::string> last_words_{};
  sigset_t signals_;
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  mutable std::atomic<bool> more_time_{false};
  std::jthread watcher_;
};

}  // namespace ooc_run
