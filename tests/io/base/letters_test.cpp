#include <ooc/detail/base/letters.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(LowerCase, IsOfAsciiLettersOnly) {
  EXPECT_EQ(lower_case(""), "");
  EXPECT_EQ(lower_case(".NPY"), ".npy");
  EXPECT_EQ(lower_case("@AZ[`az{ 09"), "@az[`az{ 09");
  EXPECT_EQ(lower_case("\xc3\x84"), "\xc3\x84");
}

}  // namespace
}  // namespace ooc::detail
