#include <ooc/detail/base/threads.hpp>

#include <ooc/detail/base/blocked_signals.hpp>
#include <ooc/error.hpp>

#include <system_error>
#include <utility>

namespace ooc::detail {

std::jthread start_thread(std::function<void(const std::stop_token&)> body) {
  const BlockedSignals blocked;  // inherited by the new thread
  try {
    return std::jthread(std::move(body));
  } catch (const std::system_error& error) {
    throw Error::from_errno(
        ErrorKind::memory, "starting a thread", error.code().value(), {}, {},
        "raise the limits on processes and memory (`ulimit -u`, `ulimit -v`, pids cgroup)");
  }
}

void start_threads(std::vector<std::jthread>& threads, std::size_t count,
                   const std::function<void()>& body) {
  threads.reserve(count);  // allocate before any thread runs
  try {
    while (threads.size() < count) {
      threads.push_back(start_thread([body](const std::stop_token&) { body(); }));
    }
  } catch (const std::exception&) {
    if (threads.empty()) throw;
  }
}

}  // namespace ooc::detail
