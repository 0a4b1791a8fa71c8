#pragma once

#include <string>
#include <string_view>

namespace ooc::detail {

/// Returns `text` with ASCII letters in lower case, independent of the locale: "abc1" for "ABC1".
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

inline bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// True for ASCII letters and digits, independent of the locale.
inline bool is_letter_or_digit(char letter) {
  return is_digit(letter) || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
}

}  // namespace ooc::detail
