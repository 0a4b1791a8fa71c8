#include "interrupt.hpp"

#include <unistd.h>

#include <ctime>
#include <ooc/io/threads.hpp>
#include <string_view>

#include "terminal.hpp"

namespace ooc_run {
namespace {

/// The signal that arrived, or -1 after `nanoseconds` without one.
int wait_for(const sigset_t& signals, long nanoseconds) {
  const timespec timeout{.tv_sec = 0, .tv_nsec = nanoseconds};
  return sigtimedwait(&signals, nullptr, &timeout);
}

int exit_code_of(int signal) {
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM}) {
    // A signal that our parent wants ignored (nohup, jobs in the background) stays ignored.
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = ooc::start_thread([this](const std::stop_token& finished) { watch(finished); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

int Interrupt::exit_code() const noexcept {
  return exit_code_of(signal_.load());
}

void Interrupt::watch(const std::stop_token& finished) {
  constexpr long glance = 20'000'000;     // how late we may notice that nobody needs us any more
  constexpr long patience = 800'000'000;  // for the run to end by itself
  int signal = -1;
  while (signal < 0) {
    if (finished.stop_requested()) return;
    signal = wait_for(signals_, glance);
  }
  signal_.store(signal);
  stop_.request_stop();
  for (long waited = 0; waited < patience || more_time_.load(); waited += glance) {
    if (finished.stop_requested()) return;
    if (wait_for(signals_, glance) > 0) break;
  }
  if (finished.stop_requested()) return;
  // The kernel may still be writing into our buffers, so nothing is destroyed here.
  constexpr std::string_view message = "ooc-run: error: interrupted; ended without a result\n";
  if (describe_terminal(STDERR_FILENO).interactive) print_to_stderr(erase_line);
  print_to_stderr(message);
  _exit(exit_code_of(signal));
}

}  // namespace ooc_run
