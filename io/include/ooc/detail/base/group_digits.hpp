#pragma once

#include <string>

namespace ooc::detail {

/// Returns the decimal digits of an integer in groups of three: "-1,234,567" for "-1234567".
std::string group_digits(std::string digits);

}  // namespace ooc::detail
