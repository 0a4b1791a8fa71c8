#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace ooc {

/// A thread that runs `body`, with signals blocked (see BlockedSignals). Throws Error(memory) where
/// none can be had.
std::jthread start_thread(std::function<void(const std::stop_token&)> body);

/// Adds threads that run `body`, until there are `count` or no more can be had: for work that fewer
/// do as well. Throws, as start_thread() does, if there is none at all.
void start_threads(std::vector<std::jthread>& threads, std::size_t count,
                   const std::function<void()>& body);

}  // namespace ooc
