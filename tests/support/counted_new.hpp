#pragma once

#include <cstdint>

namespace ooc::test {

/// Calls of operator new in this program so far. Linking counted_new.cpp replaces the operator.
std::uint64_t count_of_new() noexcept;

}  // namespace ooc::test
