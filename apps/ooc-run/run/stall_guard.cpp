#include "run/stall_guard.hpp"

#include <unistd.h>

#include <exception>
#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/threads.hpp>
#include <ooc/error.hpp>

#include "cli/failure.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {

StallGuard::StallGuard(std::optional<double> timeout, bool quiet) : quiet_(quiet), watch_(timeout) {
  try {
    thread_ = ooc::detail::start_thread([this](const std::stop_token& stop) { watch(stop); });
  } catch (const std::exception&) {
    if (timeout) throw;  // without a timeout, the guard would only print a note
  }
}

StallGuard::~StallGuard() {
  thread_.request_stop();
  ended_.notify_all();
}

std::string StallGuard::look(const ooc::Progress& progress, bool is_to_stop) {
  const std::lock_guard lock(mutex_);
  last_look_ = Clock::now();
  return watch_.look(ooc::detail::IoMeter::of_process().stall(), &progress, is_to_stop);
}

void StallGuard::watch(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds interval(50);
  constexpr std::chrono::seconds long_ago(1);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    ended_.wait_for(lock, stop, interval, [] { return false; });
    const ooc::detail::IoMeter::Stall stall = ooc::detail::IoMeter::of_process().stall();
    if (stop.stop_requested() || Clock::now() - last_look_ < long_ago) continue;
    const bool on_line = describe_terminal(STDERR_FILENO).interactive;
    try {
      const std::string warning = watch_.look(stall, nullptr, false);
      if (warning.empty() || quiet_) continue;
      if (on_line) print_to_stderr(erase_line);
      print_note(warning);
    } catch (const ooc::Error& error) {
      if (on_line) print_to_stderr(erase_line);
      end_at_once(error);
    }
  }
}

}  // namespace ooc_run
