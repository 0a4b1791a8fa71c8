#include <ooc/gram.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

// Three columns, of which the matrices are known.
const std::vector<std::int16_t> rows{1, 2, 0, 3, -2, 1, 5, 0, 2};
const std::vector<double> products{35, -4, 13, -4, 8, -2, 13, -2, 5};
const std::vector<double> covariances{4, -2, 2, -2, 4, -1, 2, -1, 1};

void expect_refused(const std::vector<double>& found, const GramOptions& options,
                    const std::string& text) {
  SCOPED_TRACE(text);
  Coordinator checks(make_device(DeviceKind::cpu));
  test::expect_error(ErrorKind::verify, text, [&] {
    verify_gram(checks, from_memory(rows, 3), from_memory(found, 3), options);
  });
}

TEST(VerifyGramTest, RightOnes) {
  Coordinator checks(make_device(DeviceKind::cpu));
  verify_gram(checks, from_memory(rows, 3), from_memory(products, 3));
  verify_gram(checks, from_memory(rows, 3), from_memory(covariances, 3), {.covariance = true});
}

TEST(VerifyGramTest, EveryWrongElementIsFound) {
  for (const bool covariance : {false, true}) {
    const std::vector<double>& right = covariance ? covariances : products;
    for (std::size_t i = 0; i < right.size(); ++i) {
      for (const double error : {1.0, -1e-9}) {
        std::vector<double> wrong = right;
        wrong[i] += error;
        expect_refused(wrong, {.covariance = covariance},
                       i % 4 == 0 ? "the element in row" : "the product of row");
      }
      std::vector<double> wrong = right;
      wrong[i] = std::numeric_limits<double>::quiet_NaN();
      expect_refused(wrong, {.covariance = covariance},
                     "the element in row " + std::to_string(i / 3) + " and column " +
                         std::to_string(i % 3) + " is NaN");
    }
  }
}

TEST(VerifyGramTest, NanMustBeThere) {
  std::vector<float> values(rows.begin(), rows.end());
  values[4] = std::numeric_limits<float>::infinity();
  Coordinator checks(make_device(DeviceKind::cpu));
  test::expect_error(ErrorKind::verify, "the element in row 0 and column 1 is -4", [&] {
    verify_gram(checks, from_memory(values, 3), from_memory(products, 3));
  });
}

TEST(VerifyGramTest, OtherShapesAreRefused) {
  Coordinator checks(make_device(DeviceKind::cpu));
  test::expect_error(ErrorKind::usage, "is no matrix of doubles of 1 columns",
                     [&] { verify_gram(checks, from_memory(rows, 1), from_memory(products, 3)); });
}

}  // namespace
}  // namespace ooc::detail
