#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

namespace ooc {

double Scalar::value() const {
  if (const auto* const integer = std::get_if<int128>(this)) return static_cast<double>(*integer);
  if (const auto* const real = std::get_if<double>(this)) return *real;
  throw Error(ErrorKind::usage, "there is no such value",
              {.why = "the data holds no element that it could come from",
               .hint = "ask has_value() first"});
}

std::string to_string(int128 value) {
  __extension__ using uint128 = unsigned __int128;
  constexpr uint128 base = 10;
  const bool negative = value < 0;
  // Unsigned, because the magnitude of the lowest int128 does not fit an int128.
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

std::string to_string(const Scalar& number) {
  if (const auto* const integer = std::get_if<int128>(&number)) return to_string(*integer);
  const auto* const real = std::get_if<double>(&number);
  if (real == nullptr) return "nothing";
  if (std::isnan(*real)) return "NaN";  // without a sign, which to_chars() would print
  constexpr std::size_t longest = 32;
  std::array<char, longest> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *real).ptr;
  return {digits.data(), end};
}

}  // namespace ooc
