#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace ooc::detail {

/// Starts a thread that runs `body` with signals blocked (see BlockedSignals). Throws Error(memory)
/// if no thread can be started.
std::jthread start_thread(std::function<void(const std::stop_token&)> body);

/// Adds threads that run `body` until there are `count`, or no more can be started. For work that
/// fewer threads can do as well. Throws like start_thread() if there is no thread at all.
void start_threads(std::vector<std::jthread>& threads, std::size_t count,
                   const std::function<void()>& body);

}  // namespace ooc::detail
