#pragma once

#include <cstddef>

namespace ooc::test {

/// How often the calling thread has called operator new.
std::size_t allocations_of_this_thread();

}  // namespace ooc::test
