#include "cli/fact_table.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ooc_run {
namespace {

TEST(FactRows, PutsTextsInAColumn) {
  const std::array rows{FactRow{"a", "first"}, FactRow{"long label", "second"}};
  EXPECT_EQ(fact_table(rows, 80), "  a           first\n  long label  second\n");
}

}  // namespace
}  // namespace ooc_run
