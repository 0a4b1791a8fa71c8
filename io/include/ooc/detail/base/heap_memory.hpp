#pragma once

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/memory.hpp>

namespace ooc::detail {

/// Returns the memory of operator new. Thread-safe.
MemoryResource& heap_memory() noexcept;

}  // namespace ooc::detail
