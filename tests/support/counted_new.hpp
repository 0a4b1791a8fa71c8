#pragma once

#include <cstdint>

namespace ooc::test {

// Calls of operator new so far. Linking counted_new.cpp replaces the operator.
std::uint64_t count_of_new() noexcept;                 // by all threads
std::uint64_t count_of_new_by_this_thread() noexcept;  // by the caller

}  // namespace ooc::test
