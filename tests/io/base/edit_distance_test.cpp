#include <ooc/detail/base/edit_distance.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("bins", "bins"), 0u);
  EXPECT_EQ(edit_distance("", "bins"), 4u);
  EXPECT_EQ(edit_distance("bins", ""), 4u);
  EXPECT_EQ(edit_distance("bins", "bin"), 1u);    // deletion
  EXPECT_EQ(edit_distance("bins", "binss"), 1u);  // insertion
  EXPECT_EQ(edit_distance("bins", "bans"), 1u);   // replacement
  EXPECT_EQ(edit_distance("bins", "bnis"), 1u);   // swap
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace ooc::detail
