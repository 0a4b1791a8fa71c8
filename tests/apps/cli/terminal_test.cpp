#include "cli/terminal.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(Terminal, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(printable("evil\x1b[31m\n.f32\r\t\x7f"), "evil\\x1b[31m\\n.f32\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("Größe 7 µ.f32"), "Größe 7 µ.f32");
  EXPECT_EQ(printable(""), "");
}

TEST(Terminal, OtherControlsAreShownNotSentEither) {
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\u009b31m");  // C1: the same as ESC [
  EXPECT_EQ(printable("a\x9b"
                      "31m\xff"),
            "a\\x9b31m\\xff");                     // not UTF-8
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");  // truncated
  EXPECT_EQ(printable("x\u202e23f.\u2066y"), "x\\u202e23f.\\u2066y");
  EXPECT_EQ(printable("\u061c\u200e\u200f"), "\\u061c\\u200e\\u200f");
  EXPECT_EQ(printable("日本語 \u200d 😀"), "日本語 \u200d 😀");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("ab  ", "one two three", 11), "ab  one two\n    three\n");
  EXPECT_EQ(wrap("ab  ", "one two three", 80), "ab  one two three\n");
  EXPECT_EQ(wrap("ab  ", "", 80), "ab  \n");
}

TEST(Wrap, LeavesLongWordsWhole) {
  EXPECT_EQ(wrap("ab  ", "abcdefghijklm no", 8), "ab  abcdefghijklm\n    no\n");
}

TEST(Wrap, LeavesAPercentSignWithItsNumber) {
  EXPECT_EQ(wrap("", "busy 98 %; idle 2 %", 8), "busy\n98 %;\nidle 2 %\n");
  EXPECT_EQ(wrap("", "idle 98 %", 8), "idle\n98 %\n");
}

TEST(Wrap, CountsCharactersAndNotBytes) {
  EXPECT_EQ(wrap("", "äöü äöü", 7), "äöü äöü\n");
}

}  // namespace
}  // namespace ooc_run
