#include <ooc/detail/base/utf8.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(FirstCharacter, DecodesUtf8) {
  const struct {
    std::string_view text;
    char32_t code;
  } cases[] = {{"a", 'a'}, {"ß", 0xdf}, {"€", 0x20ac}, {"\xf0\x9f\x98\x80", 0x1f600}};
  for (const auto& [text, code] : cases) {
    const Utf8Character character = first_character(text);
    EXPECT_TRUE(character.is_valid) << text;
    EXPECT_EQ(character.bytes, text.size()) << text;
    EXPECT_EQ(character.code, code) << text;
  }
  EXPECT_EQ(first_character("ab").bytes, 1u);
}

TEST(FirstCharacter, TakesWhatIsInvalidByteByByte) {
  // A lone continuation byte, truncated characters, overlong encodings, a surrogate, code points
  // above the maximum, and bytes that begin no character.
  for (const std::string_view text :
       {"\x80", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82(", "\xf0\x82\x82\xac"}) {
    const Utf8Character character = first_character(text);
    EXPECT_FALSE(character.is_valid) << text;
    EXPECT_EQ(character.bytes, 1u) << text;
    EXPECT_EQ(character.code, static_cast<unsigned char>(text.front())) << text;
  }
}

TEST(IsControl, KnowsWhatTerminalsObey) {
  for (const char32_t code : {0x0, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f,
                              0x202a, 0x202e, 0x2066, 0x2069}) {
    EXPECT_TRUE(is_control(code)) << static_cast<unsigned>(code);
  }
  for (const char32_t code :
       {0x20, 0x7e, 0xa0, 0x61b, 0x200d, 0x2010, 0x2029, 0x202f, 0x2065, 0x206a, 0x1f600}) {
    EXPECT_FALSE(is_control(code)) << static_cast<unsigned>(code);
  }
}

TEST(LosslessUtf8, KeepsTextAndMarksOtherBytes) {
  EXPECT_EQ(lossless_utf8("Größe 1.f32"), "Größe 1.f32");
  EXPECT_EQ(lossless_utf8(""), "");
  EXPECT_EQ(lossless_utf8("a\xff"
                          "b"),
            "a\xef\xbf\xbd"
            "ffb");
  EXPECT_EQ(lossless_utf8("\xef\xbf\xbd"),
            "\xef\xbf\xbd"
            "ef"
            "\xef\xbf\xbd"
            "bf"
            "\xef\xbf\xbd"
            "bd");
}

}  // namespace
}  // namespace ooc::detail
