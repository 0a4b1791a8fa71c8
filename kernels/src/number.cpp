#include <ooc/kernels/number.hpp>

#include <algorithm>
#include <string>

namespace ooc {

std::string to_string(int128 value) {
  __extension__ using uint128 = unsigned __int128;
  constexpr uint128 base = 10;
  const bool negative = value < 0;
  // In unsigned arithmetic the lowest value has a magnitude too.
  uint128 rest = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % base));
    rest /= base;
  } while (rest != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace ooc
