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

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request. Ends the process if it has not stopped
/// after 0.8 s, or if the user signals again. Signals within 0.2 s of the first are the same
/// request: coreutils' timeout signals its child and then the group of the child. Construct it
/// before any other thread, since all threads inherit the mask that blocks these signals. A thread
/// of this class waits for the signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// Lifts the limit of 0.8 s. Call it when the run has ended and only files remain to be written.
  /// Another signal still ends the process.
  void allow_more_time() const noexcept { more_time_ = true; }

  /// Sets the document, possibly empty, that is printed to stdout, before an error on stderr, if a
  /// signal ends the process. Without a document, which is the initial state, neither is printed.
  /// After this call has returned, an earlier document is never printed.
  void set_last_words(std::optional<std::string> document);

  /// Prints the last words and an error, and ends the process at once, since its other threads may
  /// be blocked in a read.
  [[noreturn]] void end(const ooc::Error& error) const;

  /// Returns 130 after SIGINT, 143 after SIGTERM, else 0.
  int exit_code() const noexcept;

 private:
  void watch(const std::stop_token& finished);

  mutable std::mutex mutex_;  // guards the last words
  std::optional<std::string> last_words_{};
  sigset_t signals_;
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  mutable std::atomic<bool> more_time_{false};
  std::jthread watcher_;
};

}  // namespace ooc_run
