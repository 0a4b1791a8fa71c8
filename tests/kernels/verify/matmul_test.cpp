#include <ooc/matmul.hpp>

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/matrices.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::float_infinity;
using test::float_nan;
using test::Matrix;
using test::plain_product;
using test::random_integers;

/// Returns random values between -1 and 1 that use the whole precision of T.
template <class T>
Matrix<T> random_fractions(std::uint64_t rows, std::uint64_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  Matrix<T> matrix{rows, columns, std::vector<T>(rows * columns)};
  for (T& value : matrix.values) {
    value = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63);
  }
  return matrix;
}

class VerifyMatmulTest : public testing::Test {
 protected:
  template <class T>
  Source source_of(const std::string& name, const Matrix<T>& matrix, bool swapped = false) {
    const auto path = dir_.path() / name;
    test::write_file(path, matrix.values);
    Source source = open(path, {.type = DType{element_type_of<T>(), swapped}});
    source.set_shape({matrix.rows, matrix.columns});
    return source;
  }

  Verification verify(const Source& a, const Source& b, const Source& c, Precision precision,
                      std::size_t vectors = 8) {
    Coordinator coordinator(make_device(DeviceKind::cpu), options_);
    return verify_matmul(coordinator, a, b, c, precision, vectors, wanted_);
  }

  template <class T, class C>
  Verification verify(const Matrix<T>& a, const Matrix<T>& b, const Matrix<C>& c,
                      Precision precision, std::size_t vectors = 8) {
    return verify(source_of("a", a), source_of("b", b), source_of("c", c), precision, vectors);
  }

  test::TempDir dir_;
  Options options_{.chunk_bytes = 256 * KiB, .streams = 3};
  PassOptions wanted_{};
};

constexpr test::ProductShape checked_shapes[] = {{1, 1, 1},       {1, 7, 131},     {131, 7, 1},
                                                 {61, 1, 67},     {61, 71, 67},    {1, 200'003, 1},
                                                 {3, 2, 200'003}, {200'003, 2, 3}, {200, 150, 400}};

template <class T>
class VerifyMatmulTypeTest : public VerifyMatmulTest {};

using Types = testing::Types<Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(VerifyMatmulTypeTest, Types);

TYPED_TEST(VerifyMatmulTypeTest, ProductsOfIntegersPassExactly) {
  using C = std::conditional_t<std::is_same_v<TypeParam, double>, double, float>;
  const Precision precision = std::is_same_v<TypeParam, double> ? Precision::f64 : Precision::f32;
  for (const auto [rows, inner, columns] : checked_shapes) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " +
                 std::to_string(inner));
    const auto a = random_integers<TypeParam>(rows, inner, 1);
    const auto b = random_integers<TypeParam>(inner, columns, 2);
    Matrix<C> c = plain_product<C>(a, b);
    Verification found = this->verify(a, b, c, precision);
    EXPECT_TRUE(found.passed);
    EXPECT_EQ(found.largest_ratio, 0);
    EXPECT_EQ(found.unchecked_rows, 0u);
    EXPECT_EQ(found.vectors, 8u);

    const std::uint64_t row = rows - 1 - rows / 3;
    c.at(row, columns / 2) += static_cast<C>(100 + inner);
    found = this->verify(a, b, c, precision);
    EXPECT_FALSE(found.passed);
    EXPECT_GT(found.largest_ratio, 1);
    EXPECT_EQ(found.worst_row, row);
  }
}

TEST_F(VerifyMatmulTest, RoundingPasses) {
  const auto a = random_fractions<float>(100, 700, 1);
  const auto b = random_fractions<float>(700, 100, 2);
  const Verification found = verify(a, b, plain_product<float>(a, b), Precision::f32);
  EXPECT_TRUE(found.passed);
  // Typical errors are far below the bound, which is for the worst case.
  EXPECT_GT(found.largest_ratio, 1e-5);
  EXPECT_LT(found.largest_ratio, 0.1);

  const auto wide_a = random_fractions<double>(100, 700, 1);
  const auto wide_b = random_fractions<double>(700, 100, 2);
  EXPECT_TRUE(verify(wide_a, wide_b, plain_product<double>(wide_a, wide_b), Precision::f64).passed);
}

/// All rounding errors have the same sign, which a bound on typical errors would not allow for.
TEST_F(VerifyMatmulTest, RoundingThatAddsUpPasses) {
  const Matrix<float> a{4, 100'000, std::vector<float>(400'000, 0.1f)};
  const Matrix<float> b{100'000, 5, std::vector<float>(500'000, 0.1f)};
  const Verification found = verify(a, b, plain_product<float>(a, b), Precision::f32);
  EXPECT_TRUE(found.passed);
  EXPECT_GT(found.largest_ratio, 1e-3);
}

TEST_F(VerifyMatmulTest, RoundedOperandsPassOnlyWhereTheyAreToBe) {
  const auto a = random_fractions<float>(200, 300, 1);
  const auto b = random_fractions<float>(300, 150, 2);
  const auto rounded = [](const Matrix<float>& matrix) {
    Matrix<float> result = matrix;
    for (float& value : result.values) {
      value = static_cast<float>(test::from_double<BFloat16>(value));
    }
    return result;
  };
  const Matrix<float> c = plain_product<float>(rounded(a), rounded(b));
  EXPECT_TRUE(verify(a, b, c, Precision::bf16).passed);
  EXPECT_FALSE(verify(a, b, c, Precision::f32).passed);
  EXPECT_FALSE(verify(a, b, c, Precision::f64).passed);
}

TEST_F(VerifyMatmulTest, MistakesDoNotPass) {
  const auto a = random_fractions<float>(260, 260, 1);
  const auto b = random_fractions<float>(260, 260, 2);
  const Matrix<float> c = plain_product<float>(a, b);
  ASSERT_TRUE(verify(a, b, c, Precision::f32).passed);
  const auto expect_failure = [&](const std::string& what,
                                  const std::function<void(Matrix<float>&)>& spoil) {
    SCOPED_TRACE(what);
    Matrix<float> spoilt = c;
    spoil(spoilt);
    EXPECT_FALSE(verify(a, b, spoilt, Precision::f32).passed);
  };
  expect_failure("transposed", [](Matrix<float>& m) {
    for (std::uint64_t i = 0; i < m.rows; ++i) {
      for (std::uint64_t j = 0; j < i; ++j) std::swap(m.at(i, j), m.at(j, i));
    }
  });
  expect_failure("a panel is missing", [](Matrix<float>& m) {
    for (std::uint64_t i = 64; i < 128; ++i) {
      for (std::uint64_t j = 128; j < 192; ++j) m.at(i, j) = 0;
    }
  });
  expect_failure("an element", [](Matrix<float>& m) { m.at(200, 77) += 1; });
  expect_failure("two rows exchanged", [](Matrix<float>& m) {
    for (std::uint64_t j = 0; j < m.columns; ++j) std::swap(m.at(0, j), m.at(259, j));
  });
  expect_failure("two columns exchanged", [](Matrix<float>& m) {
    for (std::uint64_t i = 0; i < m.rows; ++i) std::swap(m.at(i, 0), m.at(i, 259));
  });
  expect_failure("infinity", [](Matrix<float>& m) { m.at(3, 4) = float_infinity; });
  expect_failure("NaN", [](Matrix<float>& m) { m.at(3, 4) = float_nan; });
}

TEST_F(VerifyMatmulTest, SameBitsHoweverItIsRead) {
  const auto a = random_fractions<float>(40, 70'001, 1);
  const auto b = random_fractions<float>(70'001, 3, 2);
  const Source sources[] = {source_of("a", a), source_of("b", b),
                            source_of("c", plain_product<float>(a, b))};
  const Verification first = verify(sources[0], sources[1], sources[2], Precision::f32);
  EXPECT_TRUE(first.passed);
  for (const std::size_t streams : {1, 2, 8}) {
    for (const std::size_t chunk : {256 * KiB, 768 * KiB, 16 * MiB}) {
      options_ = {.chunk_bytes = chunk, .streams = streams};
      const Verification found = verify(sources[0], sources[1], sources[2], Precision::f32);
      EXPECT_EQ(found.largest_ratio, first.largest_ratio);
      EXPECT_EQ(found.worst_row, first.worst_row);
    }
  }
}

TEST_F(VerifyMatmulTest, OtherByteOrder) {
  const auto swap = [](Matrix<float> matrix) {
    for (float& value : matrix.values) {
      value = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
    }
    return matrix;
  };
  const auto a = random_fractions<float>(100, 100, 1);
  const auto b = random_fractions<float>(100, 100, 2);
  const Matrix<float> c = plain_product<float>(a, b);
  const Verification found = verify(source_of("a", swap(a), true), source_of("b", swap(b), true),
                                    source_of("c", swap(c), true), Precision::f32);
  EXPECT_TRUE(found.passed);
  EXPECT_EQ(found.largest_ratio, verify(a, b, c, Precision::f32).largest_ratio);
}

/// The check uses as many vectors as requested, and new ones for each group of eight.
TEST_F(VerifyMatmulTest, AnyNumberOfVectors) {
  const auto a = random_fractions<float>(50, 60, 1);
  const auto b = random_fractions<float>(60, 70, 2);
  const Matrix<float> c = plain_product<float>(a, b);
  double ratio = 0;
  for (const std::size_t vectors : {1, 5, 8, 9, 40}) {
    const Verification found = verify(a, b, c, Precision::f32, vectors);
    EXPECT_TRUE(found.passed);
    EXPECT_EQ(found.vectors, vectors);
    EXPECT_GE(found.largest_ratio, ratio);
    ratio = found.largest_ratio;
  }
  EXPECT_GT(ratio, verify(a, b, c, Precision::f32, 8).largest_ratio);
  test::expect_error(ErrorKind::usage, "at least one", [&] { verify(a, b, c, Precision::f32, 0); });
}

TEST_F(VerifyMatmulTest, NanAndInfinitySpoilTheirRowsAndColumnsOnly) {
  auto a = random_integers<float>(90, 80, 1);
  auto b = random_integers<float>(80, 70, 2);
  a.at(5, 6) = float_nan;
  a.at(17, 18) = float_infinity;
  b.at(30, 40) = -float_infinity;
  b.at(31, 41) = float_nan;
  const Matrix<float> c = plain_product<float>(a, b);
  const Verification found = verify(a, b, c, Precision::f32);
  EXPECT_TRUE(found.passed);
  EXPECT_EQ(found.largest_ratio, 0);
  EXPECT_EQ(found.unchecked_rows, 2u);

  const auto expect_failure = [&](std::uint64_t row, std::uint64_t column, float value) {
    Matrix<float> spoilt = c;
    spoilt.at(row, column) = value;
    const Verification wrong = verify(a, b, spoilt, Precision::f32);
    EXPECT_FALSE(wrong.passed);
    EXPECT_EQ(wrong.worst_row, row);
  };
  expect_failure(5, 60, 1);   // a number in a row of NaN
  expect_failure(60, 40, 1);  // a number in a column of infinities
  expect_failure(60, 42, float_nan);
  expect_failure(60, 42, c.at(60, 42) + 1);
}

TEST_F(VerifyMatmulTest, OverflowIsNotAnError) {
  Matrix<float> a{2, 3, {1e30f, 1e30f, 0, 1, 2, 3}};
  Matrix<float> b{3, 2, {1e30f, 1, 0, 0, 0, 0}};
  Matrix<float> c{2, 2, {float_infinity, 1e30f, 1e30f, 1}};
  Verification found = verify(a, b, c, Precision::f32);
  EXPECT_TRUE(found.passed);
  EXPECT_EQ(found.unchecked_rows, 1u);
  c.at(1, 1) = float_infinity;  // no product in that row overflows
  found = verify(a, b, c, Precision::f32);
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.worst_row, 1u);

  // Values too large for f4 become infinite before they are multiplied.
  const Matrix<double> wide_a{1, 2, {1e300, 1}};
  const Matrix<double> wide_b{2, 2, {1e-300, 0, 1, 1}};
  EXPECT_TRUE(
      verify(wide_a, wide_b, Matrix<float>{1, 2, {float_infinity, float_nan}}, Precision::f32)
          .passed);
  EXPECT_TRUE(verify(wide_a, wide_b, Matrix<double>{1, 2, {2, 1}}, Precision::f64).passed);
}

TEST_F(VerifyMatmulTest, NumbersFarFromOne) {
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300}) {
    auto a = random_fractions<double>(40, 50, 1);
    const auto b = random_fractions<double>(50, 60, 2);
    for (double& value : a.values) value *= scale;
    Matrix<double> c = plain_product<double>(a, b);
    const Verification found = verify(a, b, c, Precision::f64);
    EXPECT_TRUE(found.passed) << scale;
    EXPECT_EQ(found.unchecked_rows, 0u) << scale;
    c.at(20, 30) += 0.01 * scale;
    EXPECT_FALSE(verify(a, b, c, Precision::f64).passed) << scale;
  }
  auto tiny = random_fractions<float>(40, 40, 1);
  for (float& value : tiny.values) value *= 1e-22f;
  EXPECT_TRUE(verify(tiny, tiny, plain_product<float>(tiny, tiny), Precision::f32).passed);
}

TEST_F(VerifyMatmulTest, MatricesWithoutElements) {
  const Matrix<float> none{0, 5, {}};
  const auto b = random_integers<float>(5, 7, 1);
  EXPECT_TRUE(verify(none, b, Matrix<float>{0, 7, {}}, Precision::f32).passed);
  EXPECT_TRUE(verify(b, Matrix<float>{7, 0, {}}, Matrix<float>{5, 0, {}}, Precision::f32).passed);
  const Matrix<float> thin{3, 0, {}};
  Matrix<float> c{3, 5, std::vector<float>(15, 0)};
  EXPECT_TRUE(verify(thin, none, c, Precision::f32).passed);
  c.at(1, 1) = 1e-20f;
  EXPECT_FALSE(verify(thin, none, c, Precision::f32).passed);
}

TEST_F(VerifyMatmulTest, RefusesWhatDoesNotFit) {
  const auto a = random_integers<float>(5, 6, 1);
  const auto b = random_integers<float>(6, 7, 1);
  const auto c = plain_product<float>(a, b);
  test::expect_error(ErrorKind::bad_input, "a product of 5 x 6 and 5 x 6 cannot be 5 x 7",
                     [&] { verify(a, a, c, Precision::f32); });
  Source flat = source_of("c", c);
  flat.set_shape({35});
  test::expect_error(ErrorKind::bad_input, "shape",
                     [&] { verify(source_of("a", a), source_of("b", b), flat, Precision::f32); });
  const Matrix<std::int32_t> integers{5, 7, std::vector<std::int32_t>(35)};
  test::expect_error(ErrorKind::bad_input, "int32",
                     [&] { verify(a, b, integers, Precision::f32); });
}

TEST_F(VerifyMatmulTest, KeepsToTheMemoryLimit) {
  const Matrix<float> a{700, 800, std::vector<float>(700 * 800)};
  const Matrix<float> b{800, 900, std::vector<float>(800 * 900)};
  const Matrix<float> c{700, 900, std::vector<float>(700 * 900)};
  options_ = {.streams = 1, .memory_bytes = 2 * MiB};
  EXPECT_TRUE(verify(a, b, c, Precision::f32).passed);
  const auto least = [&] {
    try {
      verify(a, b, c, Precision::f32);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      return std::stoul(error.details().remedies.front().value);
    }
    return 0ul;
  };
  options_.memory_bytes = 100 * KiB;
  const std::size_t enough = least();
  options_.memory_bytes = enough - KiB;
  EXPECT_EQ(least(), enough);
  options_.memory_bytes = enough;
  EXPECT_TRUE(verify(a, b, c, Precision::f32).passed);
}

TEST_F(VerifyMatmulTest, ReportsProgressOfAllPassesAsOne) {
  const auto a = random_fractions<float>(400, 500, 1);
  const auto b = random_fractions<float>(500, 600, 2);
  const std::uint64_t total = 4 * (400 * 500 + 500 * 600 + 400 * 600);
  std::uint64_t bytes = 0;
  wanted_.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total_bytes, total);
    EXPECT_GE(progress.bytes, bytes);
    bytes = progress.bytes;
  };
  verify(a, b, plain_product<float>(a, b), Precision::f32);
  EXPECT_EQ(bytes, total);
}

TEST_F(VerifyMatmulTest, CanBeStopped) {
  const auto a = random_fractions<float>(100, 100, 1);
  std::stop_source stop;
  stop.request_stop();
  wanted_.stop = stop.get_token();
  test::expect_error(ErrorKind::interrupted, "stopped",
                     [&] { verify(a, a, plain_product<float>(a, a), Precision::f32); });
}

}  // namespace
}  // namespace ooc::detail
