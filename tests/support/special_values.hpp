#pragma once

#include <limits>

namespace ooc::detail::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double largest = std::numeric_limits<double>::max();
inline constexpr double smallest = std::numeric_limits<double>::denorm_min();

inline constexpr float float_infinity = std::numeric_limits<float>::infinity();
inline constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace ooc::detail::test
