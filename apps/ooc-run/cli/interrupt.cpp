#include "cli/interrupt.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <ooc/detail/base/threads.hpp>
#include <utility>

#include "cli/failure.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {
namespace {

/// Tells the watcher that the run has ended. It is ignored by all who do not wait for it.
constexpr int wake_signal = SIGURG;

/// Returns the signal that arrived, or -1 after `nanoseconds` without one.
int wait_for(const sigset_t& signals, long nanoseconds) {
  const timespec timeout{.tv_sec = 0, .tv_nsec = nanoseconds};
  return sigtimedwait(&signals, nullptr, &timeout);
}

void drop_pending(const sigset_t& signals) {
  while (wait_for(signals, 0) > 0) {
  }
}

int exit_code_after(int signal) {
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM}) {
    // A signal that our parent has set to be ignored (nohup, jobs in the background) stays so.
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ =
      ooc::detail::start_thread([this](const std::stop_token& finished) { watch(finished); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  pthread_kill(watcher_.native_handle(), wake_signal);
  watcher_.join();
  // Signals that came with the first one may be pending, and would end the process when unblocked.
  if (signal_.load() != 0) drop_pending(signals_);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

int Interrupt::exit_code() const noexcept {
  return exit_code_after(signal_.load());
}

void Interrupt::watch(const std::stop_token& finished) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  constexpr long glance = 20'000'000;  // ns
  constexpr auto same_request = 200ms;
  constexpr auto patience = 800ms;  // time for the run to end
  sigset_t awaited = signals_;
  sigaddset(&awaited, wake_signal);
  int signal = wake_signal;
  while (signal < 0 || signal == wake_signal) {
    if (finished.stop_requested()) return;
    signal = sigwaitinfo(&awaited, nullptr);
  }
  signal_.store(signal);
  stop_.request_stop();
  drop_pending(signals_);
  const Clock::time_point began = Clock::now();
  for (;;) {
    const bool again = wait_for(signals_, glance) > 0;
    if (finished.stop_requested()) return;
    const Clock::duration waited = Clock::now() - began;
    if (again && waited > same_request) break;
    if (waited > patience && !more_time_.load()) break;
  }
  end({ooc::ErrorKind::interrupted, "interrupted; ended without a result"});
}

void Interrupt::set_last_words(std::optional<std::string> document) {
  const std::scoped_lock lock(mutex_);
  last_words_ = std::move(document);
}

void Interrupt::end(const ooc::Error& error) const {
  using namespace std::chrono_literals;
  constexpr auto patience = 100ms;  // a full pipe may never be read
  // The lock is kept, so that no other thread prints from now on. The kernel may still be writing
  // into our buffers, so nothing is destroyed.
  mutex_.lock();
  if (last_words_) {
    write_whole(STDOUT_FILENO, *last_words_, patience);
    if (describe_terminal(STDERR_FILENO).interactive) {
      write_whole(STDERR_FILENO, erase_line, patience);
    }
    write_whole(STDERR_FILENO, describe_error(error), patience);
  }
  _exit(exit_code());
}

}  // namespace ooc_run
