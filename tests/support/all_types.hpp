#pragma once

#include <ooc/dtype.hpp>

namespace ooc::detail::test {

inline constexpr ElementType all_types[] = {ElementType::u1, ElementType::u2, ElementType::u4,
                                            ElementType::u8, ElementType::i1, ElementType::i2,
                                            ElementType::i4, ElementType::i8, ElementType::f2,
                                            ElementType::f4, ElementType::f8, ElementType::bf16};

}  // namespace ooc::detail::test
