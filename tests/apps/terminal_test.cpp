#include "terminal.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(Terminal, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(printable("evil\x1b[31m\n.f32\r\t\x7f"), "evil\\x1b[31m\\n.f32\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("Größe 7 µ.f32"), "Größe 7 µ.f32");
  EXPECT_EQ(printable(""), "");
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
