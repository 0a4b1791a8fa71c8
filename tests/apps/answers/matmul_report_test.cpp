#include "answers/matmul_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace ooc_run {
namespace {

ooc::MatmulPlan a_plan() {
  ooc::MatmulPlan plan;
  plan.rows = 3000;
  plan.columns = 2000;
  plan.inner = 1000;
  plan.type = {ooc::ElementType::f4};
  plan.resident = "B";
  plan.tile_rows = 300;
  plan.tile_columns = 2000;
  plan.tile_inner = 1000;
  plan.passes = 4;
  plan.bytes_read = 56'000'000;
  plan.bytes_written = 24'000'000;
  plan.flops = 12e9;
  plan.multiplying_seconds = 2;
  plan.reasons = {{.what = ooc::ReasonKind::resident_b, .figures = {1, 4}}};
  return plan;
}

std::optional<Prediction> two_seconds() {
  return Prediction{.seconds = 2, .stage = "cores", .unmeasured = {"write"}};
}

TEST(MatmulReport, APlanIsAResultWithoutARun) {
  const Json json = describe_plan(a_plan(), two_seconds(), {});
  EXPECT_EQ(json["bytes_read"], 56'000'000);
  EXPECT_EQ(json["flops"].dump(), "12000000000");
  EXPECT_TRUE(json["library"].is_null());
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_EQ(json["plan"]["prediction"]["seconds"], 2);
  EXPECT_EQ(json["plan"]["reasons"],
            Json{"panels of B stay on the device: A is loaded once, B 4 times"});
}

TEST(MatmulReport, AProductSaysWhatWasDoneAndWhatWasPlanned) {
  ooc::MatrixProduct product{.plan = a_plan(),
                             .library = "OpenBLAS 0.3.21",
                             .link_bytes = 7,
                             .bytes_read = 60'000'000,
                             .bytes_written = 24'000'000};
  const Json json = describe_product(product, two_seconds(), {}, "c.f32");
  EXPECT_EQ(json["bytes_read"], 60'000'000);
  EXPECT_EQ(json["plan"]["bytes_read"], 56'000'000);
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_EQ(explain_product(product, two_seconds(), 4, {}, "c.npy"),
            "wrote c.npy: 3,000 x 2,000 of float32\n\n"
            "  compute   f32, OpenBLAS 0.3.21\n"
            "  resident  B\n"
            "  read      60.0 MB (57.2 MiB) in 4 passes\n"
            "  written   24.0 MB (22.9 MiB)\n"
            "  work      12.0 GFLOP, 3.00 GFLOP/s\n"
            "  predicted at least 2.00 s\n");
  product.library = "cuBLAS 13.1";
  EXPECT_NE(explain_product(product, two_seconds(), 4, {}, "c.npy")
                .find("  copied    7 bytes to the device and back\n"),
            std::string::npos);
}

TEST(MatmulReport, APlanIsATableOfFacts) {
  const std::string text = fact_table(plan_rows(a_plan(), "cpu", explain(two_seconds())), 80);
  EXPECT_NE(text.find("  C           3,000 x 2,000 of float32\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  tiles       A 300 x 1,000, B 1,000 x 2,000, C 300 x 2,000\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  work        12.0 GFLOP, 6.00 GFLOP/s\n"), std::string::npos);
  EXPECT_NE(text.find("\n  predicted   at least 2.00 s"), std::string::npos);
  ooc::MatmulPlan shared = a_plan();
  shared.row_blocks = 2;
  const std::string of_two = fact_table(plan_rows(shared, "A + B", "not known"), 80);
  EXPECT_NE(of_two.find("3,000 x 2,000 of float32, in 2 x 1 blocks\n"), std::string::npos)
      << of_two;
}

TEST(MatmulReport, AFailedCheckIsShownAndIsAnError) {
  ProductCheck check{.verification = {.vectors = 8, .largest_ratio = 1.5e6, .worst_row = 1234},
                     .seconds = 2};
  const ooc::MatrixProduct product{.plan = a_plan(), .library = "OpenBLAS 0.3.21"};
  EXPECT_EQ(describe_product(product, {}, check, "c.f32")["verified"], false);
  EXPECT_NE(
      explain_product(product, {}, 4, check, "c.npy").find("  verified  NO: 8 random vectors"),
      std::string::npos);

  const ooc::Error error = verification_error("c.npy", check.verification);
  EXPECT_EQ(error.kind(), ooc::ErrorKind::verify);
  EXPECT_STREQ(error.what(), "c.npy: is not the product of the two matrices");
  EXPECT_EQ(error.details().why, "row 1,234 differs by 1.5e+06 times what rounding explains");

  check.verification.largest_ratio = std::numeric_limits<double>::infinity();
  EXPECT_EQ(verification_error("c.npy", check.verification).details().why,
            "row 1,234 has NaN or infinity where none belongs, or lacks one");
}

TEST(MatmulReport, APassedCheckSaysWhatItDidNotSee) {
  const ProductCheck check{
      .verification = {.vectors = 8, .largest_ratio = 0.012, .unchecked_rows = 3, .passed = true},
      .seconds = 2};
  const ooc::MatrixProduct product{.plan = a_plan(), .library = "OpenBLAS 0.3.21"};
  EXPECT_EQ(describe_product(product, {}, check, "c.f32")["verified"], true);
  const std::string text = explain_product(product, {}, 4, check, "c.npy");
  EXPECT_NE(text.find("yes: 8 random vectors, at most 0.012 of what rounding explains, 2.00 s; "
                      "3 rows unchecked"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace ooc_run
