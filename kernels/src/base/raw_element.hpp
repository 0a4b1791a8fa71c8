#pragma once

#include <cstddef>

namespace ooc::detail {

/// The bytes of an element of a given size. Where only the loops know its type, operators are
/// instantiated for sizes instead of types.
template <std::size_t bytes>
struct RawElement {
  using Element = std::byte;
  std::byte data[bytes];
};

}  // namespace ooc::detail
