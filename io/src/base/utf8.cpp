#include <ooc/detail/base/utf8.hpp>

#include <algorithm>
#include <array>

namespace ooc::detail {
namespace {

constexpr char32_t replacement = 0xfffd;
constexpr std::string_view replacement_bytes = "\xef\xbf\xbd";

/// An encoding of characters in `bytes`: the prefix of the first byte, and the least code that
/// needs so many bytes.
struct Length {
  std::size_t bytes;
  unsigned mask, prefix;
  char32_t least;
};

constexpr std::array lengths{
    Length{1, 0x80, 0x00, 0},
    Length{2, 0xe0, 0xc0, 0x80},
    Length{3, 0xf0, 0xe0, 0x800},
    Length{4, 0xf8, 0xf0, 0x10000},
};

struct CodeRange {
  char32_t first, last;
};

constexpr std::array controls{
    CodeRange{0x00, 0x1f},     CodeRange{0x7f, 0x9f},     CodeRange{0x61c, 0x61c},
    CodeRange{0x200e, 0x200f}, CodeRange{0x202a, 0x202e}, CodeRange{0x2066, 0x2069},
};

unsigned value_of(char byte) {
  return static_cast<unsigned char>(byte);
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  constexpr unsigned continuation_mask = 0xc0, continuation_prefix = 0x80, continuation_bits = 6;
  constexpr char32_t first_surrogate = 0xd800, last_surrogate = 0xdfff, last_code = 0x10ffff;
  const unsigned first = value_of(text.front());
  const Utf8Character invalid{.code = first};
  const auto* const length = std::ranges::find_if(
      lengths, [&](const Length& each) { return (first & each.mask) == each.prefix; });
  if (length == lengths.end() || text.size() < length->bytes) return invalid;
  char32_t code = first & ~length->mask;
  for (const char byte : text.substr(1, length->bytes - 1)) {
    if ((value_of(byte) & continuation_mask) != continuation_prefix) return invalid;
    code = code << continuation_bits | (value_of(byte) & ~continuation_mask);
  }
  const bool is_surrogate = code >= first_surrogate && code <= last_surrogate;
  if (code < length->least || code > last_code || is_surrogate) return invalid;
  return {length->bytes, code, true};
}

bool is_control(char32_t code) {
  return std::ranges::any_of(controls, [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

std::string lossless_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
    if (character.is_valid && character.code != replacement) {
      result += bytes;
      continue;
    }
    for (const char byte : bytes) {
      constexpr std::string_view digits = "0123456789abcdef";
      result += replacement_bytes;
      result += digits[value_of(byte) / 16];
      result += digits[value_of(byte) % 16];
    }
  }
  return result;
}

}  // namespace ooc::detail
