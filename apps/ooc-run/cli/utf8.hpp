#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ooc_run {

/// The first character of a text.
struct Utf8Character {
  std::size_t bytes = 1;
  char32_t code = 0;      // of an invalid one, the value of its byte
  bool is_valid = false;  // invalid ones are taken byte by byte
};

/// Decodes UTF-8 as the Unicode standard has it: no surrogates, nothing longer than need be. `text`
/// is not empty.
Utf8Character first_character(std::string_view text);

/// Whether a terminal obeys this character instead of showing it: controls (C0, DEL, C1), and those
/// that change the direction of the text that follows.
bool is_control(char32_t code);

/// `text` as valid UTF-8 from which its bytes can be found again: a byte that is not UTF-8 becomes
/// U+FFFD and its two hexadecimal digits, and so does each of the three bytes of U+FFFD itself.
std::string lossless_utf8(std::string_view text);

}  // namespace ooc_run
