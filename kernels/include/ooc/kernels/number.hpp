#pragma once

#include <string>
#include <variant>

namespace ooc {

__extension__ using int128 = __int128;

/// A value of a dataset, or a sum of them: an exact integer for integer types, a double for
/// floating types, nothing where there is no such value (the minimum of no elements).
using Number = std::variant<std::monostate, int128, double>;

/// All digits, in base ten.
std::string to_string(int128 value);

}  // namespace ooc
