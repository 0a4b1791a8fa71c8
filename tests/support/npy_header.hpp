#pragma once

#include <cstddef>

namespace ooc::detail::test {

/// Bytes of the header of a .npy file that is written: a page.
inline constexpr std::size_t npy_header_bytes = 4096;

}  // namespace ooc::detail::test
