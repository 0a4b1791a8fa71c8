#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <ooc/coordinator.hpp>
#include <ooc/detail/base/wait_check.hpp>
#include <ooc/error.hpp>
#include <optional>
#include <stop_token>
#include <utility>

#include "bindings.hpp"

namespace ooc_python {

/// The calls in progress. The interpreter must not end while one is: its thread would end where no
/// exception may pass. So a thread may be without the GIL below a function of C++, or run Python
/// there, only as long as it has a Call.
class Calls {
 public:
  static Calls& all() { return *instance(); }

  /// In a child of fork(), where the calls of other threads never end: begins anew.
  static void forget() { instance() = new Calls; }

  /// Stops all calls, and waits for them. Later ones are refused.
  void end() {
    const nb::gil_scoped_release released;
    stop_.request_stop();
    std::unique_lock lock(mutex_);
    none_left_.wait(lock, [this] { return running_ == 0; });
  }

  std::stop_token stop_token() const { return stop_.get_token(); }
  bool has_ended() const { return stop_.stop_requested(); }
  /// Returns false if the interpreter is ending.
  [[nodiscard]] bool begin_one() {
    const std::scoped_lock lock(mutex_);
    if (has_ended()) return false;
    ++running_;
    return true;
  }
  void end_one() {
    const std::scoped_lock lock(mutex_);
    if (--running_ == 0) none_left_.notify_all();
  }

 private:
  static Calls*& instance() {
    static auto* calls = new Calls;  // threads may outlive static objects
    return calls;
  }

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  int running_ = 0;
};

/// One of the calls. Throws Error(interrupted) if the interpreter is ending. While its thread waits
/// for a web server, the handlers of signals run. What one raises is thrown, and so is
/// Error(interrupted) when the interpreter ends.
class Call {
 public:
  Call() {
    if (calls_.begin_one()) return;
    throw ending();
  }
  ~Call() { calls_.end_one(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  static void look() {
    if (Calls::all().has_ended()) throw ending();
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  static ooc::Error ending() { return {ooc::ErrorKind::interrupted, "the interpreter is ending"}; }

  Calls& calls_ = Calls::all();  // a child of fork() has others
  ooc::detail::WaitCheck check_{look};
};

/// Calls `body` without the GIL. Throws like a Call.
template <class Body>
auto without_gil(Body&& body) {
  const Call call;
  const nb::gil_scoped_release released;
  return body();
}

/// Calls `body` without the GIL, on a thread that has it or not. Throws nothing of its own: when
/// the interpreter is ending, `body` is called as the thread is.
template <class Body>
void without_gil_if_possible(Body&& body) {
  std::optional<Call> call;
  try {
    call.emplace();
  } catch (const ooc::Error&) {
    return body();
  }
  const nb::gil_scoped_acquire acquired;  // only who has the GIL can release it
  if (!acquired.is_valid()) return body();
  const nb::gil_scoped_release released;
  body();
}

/// Calls `pass` with the options of a pass, and without the GIL. About ten times a second, the
/// handlers of signals run, and `progress`, which may be None, is called with the bytes that are
/// done and all of them (0: not known). An exception from either stops the pass, and is thrown when
/// its threads have ended.
template <class Pass>
auto watched(const nb::object& progress, Pass&& pass) {
  const Call call;  // until this thread has the GIL again
  std::stop_source stop;
  const std::stop_callback at_exit(Calls::all().stop_token(), [&stop] { stop.request_stop(); });
  std::exception_ptr raised;
  ooc::PassOptions options{.stop = stop.get_token(), .abandon = stop.get_token()};
  options.progress = [&](const ooc::Progress& done) {
    if (raised || Calls::all().has_ended()) return;
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!progress.is_none()) progress(done.bytes, done.total_bytes);
    } catch (...) {
      raised = std::current_exception();
      stop.request_stop();
    }
  };
  const auto run = [&] {
    try {
      const nb::gil_scoped_release released;
      return pass(options);
    } catch (...) {
      if (raised) std::rethrow_exception(raised);
      throw;
    }
  };
  auto result = run();
  if (raised) std::rethrow_exception(raised);
  return result;
}

}  // namespace ooc_python
