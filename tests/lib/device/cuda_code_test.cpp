#include <ooc/detail/device/cuda_code.hpp>

#include <gtest/gtest.h>

namespace ooc::detail {
namespace {

TEST(CudaCode, RunsOnItsFamilyAndAsPtxOnLaterOnes) {
  EXPECT_TRUE(has_code_for("75-real 90-real", 9, 0));
  EXPECT_TRUE(has_code_for("80-real", 8, 6));
  EXPECT_TRUE(has_code_for("75", 9, 0));
  EXPECT_TRUE(has_code_for("all-major", 8, 9));
  EXPECT_TRUE(has_code_for("native", 9, 0));
  EXPECT_FALSE(has_code_for("86-real", 8, 0));
  EXPECT_FALSE(has_code_for("80-real 100", 9, 0));
  EXPECT_TRUE(has_code_for("80-real 90-virtual", 12, 0));
  EXPECT_TRUE(has_code_for("90-virtual", 9, 0));
  EXPECT_FALSE(has_code_for("90-virtual", 8, 9));
  EXPECT_TRUE(has_code_for("OFF", 9, 0));
  EXPECT_TRUE(has_code_for("90a-real", 9, 0));
  EXPECT_FALSE(has_code_for("90a", 10, 0));
  EXPECT_FALSE(has_code_for("100a", 10, 3));
  EXPECT_TRUE(has_code_for("100f", 10, 3));
  EXPECT_FALSE(has_code_for("100f", 12, 0));
  EXPECT_FALSE(has_code_for("", 9, 0));
}

TEST(CudaCode, SaysWhatIsMissingAndHowToGetIt) {
  EXPECT_EQ(why_no_code("90-real", 9, 0), "");
  EXPECT_EQ(why_no_code("90-real", 8, 9),
            "this build has no code for compute capability 8.9, only for 90-real");
  EXPECT_EQ(how_to_get_code(8, 9),
            "rebuild with -DCMAKE_CUDA_ARCHITECTURES=89, or on this machine with native");
}

}  // namespace
}  // namespace ooc::detail
