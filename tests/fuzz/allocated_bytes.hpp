#pragma once

#include <cstdint>

namespace ooc::detail::fuzz {

/// Bytes that operator new has given so far, whether they are still in use or not. Linking
/// allocated_bytes.cpp replaces the operator.
std::uint64_t allocated_bytes() noexcept;

}  // namespace ooc::detail::fuzz
