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

}  // namespace ooc::detail
