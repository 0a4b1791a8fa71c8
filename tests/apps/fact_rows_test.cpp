#include "fact_rows.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ooc_run {
namespace {

TEST(FactRows, BreaksBetweenWords) {
  EXPECT_EQ(wrap("ab  ", "one two three", 11), "ab  one two\n    three\n");
  EXPECT_EQ(wrap("ab  ", "one two three", 80), "ab  one two three\n");
  EXPECT_EQ(wrap("ab  ", "", 80), "ab  \n");
}

TEST(FactRows, LeavesLongWordsWhole) {
  EXPECT_EQ(wrap("ab  ", "abcdefghijklm no", 8), "ab  abcdefghijklm\n    no\n");
}

TEST(FactRows, CountsCharactersAndNotBytes) {
  EXPECT_EQ(wrap("", "äöü äöü", 7), "äöü äöü\n");
}

TEST(FactRows, PutsTextsInAColumn) {
  const std::array rows{FactRow{"a", "first"}, FactRow{"long label", "second"}};
  EXPECT_EQ(fact_table(rows, 80), "  a           first\n  long label  second\n");
}

}  // namespace
}  // namespace ooc_run
