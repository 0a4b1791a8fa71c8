#pragma once

#include <string>
#include <string_view>

namespace ooc {

/// "abc1" for "ABC1". Of ASCII letters, whatever the locale.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

}  // namespace ooc
