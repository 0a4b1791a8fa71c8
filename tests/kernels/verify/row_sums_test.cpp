#include "verify/row_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/data_file.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::freivalds {
namespace {

/// Returns small integers, so that all sums are exact.
std::vector<float> random_integers(std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 17) - 8;
  return values;
}

std::vector<Factors> some_factors(std::uint64_t columns) {
  std::vector<Factors> factors(columns);
  for (std::uint64_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < vector_count; ++i) {
      factors[j].vectors[i] = static_cast<double>((j + 3 * i) % 7) - 3;
    }
    factors[j].magnitude = static_cast<double>(1 + j % 5);
    factors[j].norm = static_cast<double>(1 + j % 3);
  }
  return factors;
}

class RowSumsTest : public testing::Test {
 protected:
  RowPass sum(const std::vector<float>& values, std::uint64_t rows, std::uint64_t columns,
              const std::vector<Factors>& factors, double limit = test::infinity) {
    const auto path = dir_.path() / "matrix.f32";
    test::write_file(path, values);
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = 1, .streams = 3});
    return sum_rows(coordinator, open(path), rows, columns, factors, limit);
  }

  test::TempDir dir_;
};

/// Rows end anywhere in blocks and tiles, and tiles hold many rows.
TEST_F(RowSumsTest, AreTheProductsOfTheRows) {
  struct Shape {
    std::uint64_t rows, columns;
  };
  constexpr Shape shapes[] = {{1, 1},       {3, 200'003}, {200'003, 3}, {300, 1000},
                              {64, 65'536}, {7, 65'537},  {513, 257}};
  for (const auto [rows, columns] : shapes) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const std::vector<float> values = random_integers(rows * columns, 1);
    const std::vector<Factors> factors = some_factors(columns);
    const RowPass found = sum(values, rows, columns, factors);
    EXPECT_TRUE(found.nonfinite_columns.empty());
    ASSERT_EQ(found.rows.size(), rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
      Factors expected;
      double largest = 0;
      for (std::uint64_t j = 0; j < columns; ++j) {
        const double value = values[i * columns + j];
        for (std::size_t v = 0; v < vector_count; ++v) {
          expected.vectors[v] += value * factors[j].vectors[v];
        }
        expected.magnitude += std::abs(value) * factors[j].magnitude;
        expected.norm += std::abs(value) * factors[j].norm;
        largest = std::max(largest, std::abs(value));
      }
      ASSERT_EQ(found.rows[i].sums.vectors, expected.vectors) << "row " << i;
      ASSERT_EQ(found.rows[i].sums.magnitude, expected.magnitude) << "row " << i;
      ASSERT_EQ(found.rows[i].sums.norm, expected.norm) << "row " << i;
      ASSERT_EQ(found.rows[i].largest, largest) << "row " << i;
    }
  }
}

TEST_F(RowSumsTest, WhatIsNotFiniteCountsAsZero) {
  constexpr std::uint64_t rows = 100;
  constexpr std::uint64_t columns = 2000;
  std::vector<float> values = random_integers(rows * columns, 1);
  std::vector<Factors> factors = some_factors(columns);
  factors[1500].magnitude = 0;
  for (const std::uint64_t place : {5 * columns + 700, 5 * columns + 1500, 90 * columns}) {
    values[place] = 0;
  }
  const RowPass expected = sum(values, rows, columns, factors);
  values[5 * columns + 700] = test::float_nan;
  values[5 * columns + 1500] = test::float_infinity;
  values[90 * columns] = -1000;  // not below the limit
  const RowPass found = sum(values, rows, columns, factors, 1000);
  for (std::uint64_t i = 0; i < rows; ++i) {
    EXPECT_EQ(found.rows[i].sums.vectors, expected.rows[i].sums.vectors);
    EXPECT_EQ(found.rows[i].sums.magnitude, expected.rows[i].sums.magnitude);
    EXPECT_EQ(found.rows[i].largest, expected.rows[i].largest);
    EXPECT_EQ(found.rows[i].nonfinite, i == 5 ? 2u : i == 90 ? 1u : 0u);
    EXPECT_EQ(found.rows[i].nonfinite_used, i == 5 || i == 90 ? 1u : 0u);
  }
  std::vector<std::uint8_t> wanted(columns);
  wanted[0] = wanted[700] = wanted[1500] = 1;
  EXPECT_EQ(found.nonfinite_columns, wanted);
}

/// The bound of the check relies on few roundings. There are never more than terms plus one.
TEST(RowSums, RoundATermFarLessOftenThanThereAreTerms) {
  EXPECT_EQ(roundings(1), 2);
  EXPECT_EQ(roundings(100), 101);
  EXPECT_LT(roundings(16'384), 210);
  EXPECT_LT(roundings(1'000'000), 450);
}

}  // namespace
}  // namespace ooc::detail::freivalds
