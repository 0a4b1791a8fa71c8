#pragma once

#include <cstddef>
#include <functional>

namespace ooc::detail::measure {

/// Calls `work` concurrently with each number below `count`: with 0 on the calling thread, with
/// each other number on a new thread. Waits for all of them, then rethrows the exception of the
/// lowest number. Throws Error(memory) if a thread cannot be started.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace ooc::detail::measure
