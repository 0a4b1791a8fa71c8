#include <ooc/gram.hpp>

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
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

TEST(VerifyGramTest, ALargeColumnHidesNoErrors) {
  std::mt19937_64 random(1);
  const std::size_t columns = 4;
  std::vector<double> values(2000 * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(random() % 1000) / 512 - 1;
    values[i] = i % columns == 2 ? value * 1e36 : i % columns == 3 ? value * 1e-30 : value;
  }
  const Source source = from_memory(values, columns);
  Coordinator checks(make_device(DeviceKind::cpu));
  for (const bool is_covariance : {false, true}) {
    const GramOptions options{.covariance = is_covariance};
    const std::vector<double> right = gram(checks, source, options).value;
    verify_gram(checks, source, from_memory(right, columns), options);
    for (const auto& [row, column] : {std::pair{0, 1}, std::pair{0, 3}, std::pair{2, 3}}) {
      std::vector<double> wrong = right;
      wrong[row * columns + column] *= 1 + 1e-6;
      wrong[column * columns + row] *= 1 + 1e-6;
      test::expect_error(ErrorKind::verify, "with random signs", [&] {
        verify_gram(checks, source, from_memory(wrong, columns), options);
      });
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
