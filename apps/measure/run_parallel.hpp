#pragma once

#include <cstddef>
#include <functional>

namespace ooc::measure {

/// Calls `work` with each number below `count`, all at the same time: with 0 on the caller's
/// thread, with the others on threads of their own. Throws what the lowest number has thrown, or
/// Error(memory) if there are not as many threads to be had; only when all have ended.
void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace ooc::measure
