#include "terminal.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

TEST(Terminal, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(printable("evil\x1b[31m\n.f32\r\t\x7f"), "evil\\x1b[31m\\n.f32\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("Größe 7 µ.f32"), "Größe 7 µ.f32");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace ooc_run
