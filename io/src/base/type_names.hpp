#pragma once

#include <array>
#include <string_view>

namespace ooc::detail {

/// The names of an element type.
struct TypeNames {
  std::string_view code, name, ending;
};

// In the order of ElementType.
inline constexpr std::array<TypeNames, 12> type_names{{{"u1", "uint8", ".u8"},
                                                       {"u2", "uint16", ".u16"},
                                                       {"u4", "uint32", ".u32"},
                                                       {"u8", "uint64", ".u64"},
                                                       {"i1", "int8", ".i8"},
                                                       {"i2", "int16", ".i16"},
                                                       {"i4", "int32", ".i32"},
                                                       {"i8", "int64", ".i64"},
                                                       {"f2", "float16", ".f16"},
                                                       {"f4", "float32", ".f32"},
                                                       {"f8", "float64", ".f64"},
                                                       {"bf16", "bfloat16", ".bf16"}}};

}  // namespace ooc::detail
