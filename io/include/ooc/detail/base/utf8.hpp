#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ooc::detail {

/// The first character of a text.
struct Utf8Character {
  std::size_t bytes = 1;
  char32_t code = 0;      // Unicode code point; if invalid, the value of the byte
  bool is_valid = false;  // an invalid character is a single byte
};

/// Decodes the first character of `text`, which must not be empty. Surrogates and overlong
/// encodings are invalid, as in the Unicode standard.
Utf8Character first_character(std::string_view text);

/// True if a terminal acts on this character instead of showing it: controls (C0, DEL, C1), and
/// characters that change the direction of the text that follows.
bool is_control(char32_t code);

/// Returns `text` as valid UTF-8 from which its bytes can be recovered: a byte that is not UTF-8
/// becomes U+FFFD and its two hexadecimal digits, and so does each of the three bytes of U+FFFD.
std::string lossless_utf8(std::string_view text);

}  // namespace ooc::detail
