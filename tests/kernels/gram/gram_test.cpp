// Tests gram() against its definition in long doubles, for all element types.

#include <ooc/gram.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

constexpr GramOptions of_covariance{.covariance = true};

/// Returns an element exactly.
template <class T>
long double exact(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return to_double(value);
  }
}

/// Sums over the rows of a matrix that all have values.
template <class T>
class Definition {
 public:
  Definition(const std::vector<T>& values, std::size_t columns)
      : values_(values), columns_(columns), rows_(values.size() / columns) {}

  /// Returns the sum of term(x, y) over the rows, where x and y are in columns i and j.
  template <class Term>
  long double sum(std::size_t i, std::size_t j, Term term) const {
    long double sum = 0;
    for (std::size_t row = 0; row < rows_; ++row) sum += term(at(row, i), at(row, j));
    return sum;
  }

  long double mean(std::size_t column, std::size_t rows) const {
    long double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += at(row, column);
    return sum / static_cast<long double>(rows);
  }

  /// Mean square of the distances from the mean of the first rows.
  long double around_center(std::size_t column) const {
    const long double center =
        mean(column, std::min(rows_, column_tile_rows(columns_ * sizeof(T))));
    const auto square = [center](long double x, long double) {
      return (x - center) * (x - center);
    };
    return sum(column, column, square) / static_cast<long double>(rows_ - 1);
  }

  std::size_t rows() const { return rows_; }

 private:
  long double at(std::size_t row, std::size_t column) const {
    return exact(values_[row * columns_ + column]);
  }

  const std::vector<T>& values_;
  std::size_t columns_, rows_;
};

long double gamma_of(std::size_t roundings) {
  return std::expm1(static_cast<long double>(roundings) * 0x1p-53L);
}

/// Values of a type, of which none is NaN or infinite. The first are around 100, 200, 300 ...
template <class T>
std::vector<T> some_values(std::size_t rows, std::size_t columns) {
  std::mt19937_64 random(rows);
  std::vector<T> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto whole = static_cast<double>(random() % 64);
    const double value = whole + static_cast<double>(10 * (i % columns % 5));
    if constexpr (std::is_arithmetic_v<T>) {
      values[i] = static_cast<T>(std::is_integral_v<T> ? value : value / 7);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      values[i] = {static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16)};
    } else {
      values[i] = {static_cast<std::uint16_t>(0x3000 + random() % 0x1000)};  // 0.125 to 2
    }
  }
  return values;
}

class GramTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(Options options = {.chunk_bytes = 1 * MiB, .streams = 3}) const {
    return Coordinator(make_device(GetParam()), options);
  }

  template <class T>
  Source rows_of(const std::vector<T>& values, std::size_t columns) {
    Source source = source_of(values);
    source.set_shape({values.size() / columns, columns});
    return source;
  }

  /// Expects both matrices within their bounds, exactly symmetric, and that the check agrees.
  template <class T>
  void expect_defined(const std::vector<T>& values, std::size_t columns) {
    SCOPED_TRACE(std::to_string(values.size() / columns) + " rows of " + std::to_string(columns) +
                 " " + std::string(name_of(element_type_of<T>())));
    const Source source = rows_of(values, columns);
    const Definition<T> defined(values, columns);
    Coordinator products = coordinator();
    const auto matrix = gram(products, source).value;
    const auto covariances = covariance(products, source).value;
    ASSERT_EQ(matrix.size(), columns * columns);
    ASSERT_EQ(covariances.size(), columns * columns);
    std::vector<long double> spread(columns);
    for (std::size_t i = 0; i < columns; ++i) spread[i] = defined.around_center(i);
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = i; j < columns; ++j) {
        const std::size_t at = i * columns + j, mirrored = j * columns + i;
        ASSERT_EQ(test::bits_of(matrix[at]), test::bits_of(matrix[mirrored]));
        ASSERT_EQ(test::bits_of(covariances[at]), test::bits_of(covariances[mirrored]));
        const auto product = [](long double x, long double y) {
          return static_cast<long double>(static_cast<double>(x)) * static_cast<double>(y);
        };
        const auto size = [&](long double x, long double y) { return std::abs(product(x, y)); };
        ASSERT_LE(std::abs(matrix[at] - defined.sum(i, j, product)),
                  gamma_of(defined.rows() + 64) * defined.sum(i, j, size))
            << i << " " << j;
        const long double mean_i = defined.mean(i, defined.rows());
        const long double mean_j = defined.mean(j, defined.rows());
        const auto together = [&](long double x, long double y) {
          return (x - mean_i) * (y - mean_j);
        };
        const long double expected =
            defined.sum(i, j, together) / static_cast<long double>(defined.rows() - 1);
        ASSERT_LE(std::abs(covariances[at] - expected),
                  3 * gamma_of(defined.rows() + 72) * std::sqrt(spread[i] * spread[j]))
            << i << " " << j;
      }
    }
    verify_gram(products, source, from_memory(matrix, columns));
    verify_gram(products, source, from_memory(covariances, columns), of_covariance);
  }

  template <class T>
  std::vector<double> covariance_of(const std::vector<T>& values, std::size_t columns) {
    Coordinator products = coordinator();
    return covariance(products, rows_of(values, columns)).value;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, GramTest, test::all_devices, test::device_name);

TEST_P(GramTest, EveryTypeHasTheDefinition) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_defined(some_values<T>(700, 5), 5);
      expect_defined(some_values<T>(2, 3), 3);
      expect_defined(some_values<T>(40'000, 1), 1);
    });
  }
}

TEST_P(GramTest, SeveralTilesHaveTheDefinition) {
  expect_defined(some_values<float>(700, 259), 259);
  expect_defined(some_values<double>(260, 513), 513);
}

TEST_P(GramTest, SumsOfIntegersAreExact) {
  const auto values = some_values<std::int16_t>(50'000, 3);
  Coordinator products = coordinator();
  const auto matrix = gram(products, rows_of(values, 3)).value;
  const Definition<std::int16_t> defined(values, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(matrix[i * 3 + j], defined.sum(i, j, std::multiplies<>()));
    }
  }
}

TEST_P(GramTest, ALargeMeanCostsNoDigits) {
  std::mt19937_64 random(1);
  std::vector<double> values(60'000 * 2);
  std::vector<std::int64_t> noise(values.size()), integers(values.size());
  std::vector<std::uint64_t> naturals(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    noise[i] = static_cast<std::int64_t>(random() % 1001) - 500;
    values[i] = 1e8 + static_cast<double>(noise[i]) / 512;
    integers[i] = noise[i] - (std::int64_t{1} << 62);  // doubles there are 512 apart
    naturals[i] = ~std::uint64_t{500} + static_cast<std::uint64_t>(noise[i]);
  }
  expect_defined(values, 2);
  const double expected = covariance_of(noise, 2)[0];
  EXPECT_NEAR(covariance_of(integers, 2)[0], expected, 1e-9 * expected);
  EXPECT_NEAR(covariance_of(naturals, 2)[0], expected, 1e-9 * expected);
}

TEST_P(GramTest, AnOutlierInTheFirstRowCostsFewDigits) {
  auto values = some_values<double>(30'000, 2);
  values[0] = 1e9;
  expect_defined(values, 2);
}

TEST_P(GramTest, ConstantColumnsHaveNoCovariance) {
  std::vector<float> values;
  for (int row = 0; row < 20'000; ++row) {
    values.insert(values.end(), {0.1f, -1e30f, static_cast<float>(row % 7), -0.0f});
  }
  const auto found = covariance_of(values, 4);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 2 * 4 + 2) continue;
    EXPECT_EQ(test::bits_of(found[i]), test::bits_of(0.0)) << i;
  }
  EXPECT_NEAR(found[2 * 4 + 2], 4, 0.01);
}

TEST_P(GramTest, SameBitsForAnyDivision) {
  // There are more blocks of rows than sums, so that lanes wait for one another.
  const std::vector<float> rough = test::rough_numbers(6'000 * 600);
  for (const std::size_t columns : {3, 600}) {
    const std::size_t count = 6'000 * 600;
    const std::vector<float> values(rough.begin(), rough.begin() + static_cast<long>(count));
    const Source source = rows_of(values, columns);
    for (const GramOptions options : {GramOptions{}, of_covariance}) {
      Coordinator one = coordinator({.chunk_bytes = 64 * MiB, .streams = 1});
      const auto whole = gram(one, source, options).value;
      for (const std::size_t chunk : {1, 3, 16}) {
        for (const std::size_t streams : {1, 2, 5}) {
          Coordinator some = coordinator({.chunk_bytes = chunk * 256 * KiB, .streams = streams});
          EXPECT_TRUE(gram(some, source, options).value == whole) << chunk << " " << streams;
        }
      }
    }
  }
}

TEST_P(GramTest, NanAndInfinitiesStayInTheirColumns) {
  auto values = some_values<double>(20'000, 5);
  values[19'000 * 5 + 1] = test::nan;
  values[2] = test::infinity;  // also in the first rows
  values[18'000 * 5 + 4] = -test::infinity;
  const Source source = rows_of(values, 5);
  Coordinator products = coordinator();
  const auto matrix = gram(products, source).value;
  const auto covariances = covariance(products, source).value;
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const bool is_whole = (i == 0 || i == 3) && (j == 0 || j == 3);
      EXPECT_EQ(std::isfinite(matrix[i * 5 + j]), is_whole) << i << " " << j;
      EXPECT_EQ(std::isnan(covariances[i * 5 + j]), !is_whole) << i << " " << j;
    }
  }
  EXPECT_EQ(matrix[2 * 5 + 2], test::infinity);
  EXPECT_EQ(matrix[4 * 5 + 4], test::infinity);
  EXPECT_TRUE(std::isnan(matrix[1 * 5 + 2]));
  verify_gram(products, source, from_memory(matrix, 5));
  verify_gram(products, source, from_memory(covariances, 5), of_covariance);
}

TEST_P(GramTest, SumsOverflowToInfinity) {
  const std::vector<double> values{1e200, 1, -1e200, 2, 1e200, 3};
  const Source source = rows_of(values, 2);
  Coordinator products = coordinator();
  const auto matrix = gram(products, source).value;
  EXPECT_EQ(matrix[0], test::infinity);
  EXPECT_EQ(matrix[3], 14);
  const auto covariances = covariance(products, source).value;
  EXPECT_EQ(covariances[0], test::infinity);
  EXPECT_EQ(covariances[3], 1);
  verify_gram(products, source, from_memory(matrix, 2));
  verify_gram(products, source, from_memory(covariances, 2), of_covariance);
}

TEST_P(GramTest, TheOtherByteOrderAndASection) {
  const auto values = some_values<float>(40'000, 3);
  auto swapped = values;
  for (float& value : swapped)
    value = test::from_bits<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  Source source = source_of(swapped, true);
  source.set_shape({40'000, 3});
  Coordinator products = coordinator();
  const std::vector<double> whole = gram(products, from_memory(values, 3)).value;
  EXPECT_EQ(gram(products, source).value, whole);
  constexpr std::size_t first = 34'816;  // after two blocks, and not at the beginning of one
  const std::vector<float> later(values.begin() + first * 3, values.end());
  const Source section = section_rows(source, first, 40'000 - first);
  EXPECT_EQ(gram(products, section).value, gram(products, from_memory(later, 3)).value);
  EXPECT_EQ(covariance(products, section).value, covariance(products, from_memory(later, 3)).value);
}

TEST_P(GramTest, FewRows) {
  Coordinator products = coordinator();
  const std::vector<float> row{3, -0.0f};
  EXPECT_EQ(gram(products, from_memory(row, 2)).value, (std::vector<double>{9, 0, 0, 0}));
  test::expect_error(ErrorKind::bad_input, "has one row, and no covariance",
                     [&] { (void)covariance(products, from_memory(row, 2)); });
  Source nothing = source_of(std::vector<float>{});
  nothing.set_shape({0, 2});
  EXPECT_EQ(gram(products, nothing).value, std::vector<double>(4));
  test::expect_error(ErrorKind::bad_input, "has no rows, and no covariance",
                     [&] { (void)covariance(products, nothing); });
}

TEST_P(GramTest, TooManyColumnsAreRefused) {
  const std::vector<std::uint8_t> row(max_gram_columns + 1);
  Coordinator products = coordinator();
  test::expect_error(ErrorKind::bad_input, "has 32769 columns",
                     [&] { (void)gram(products, from_memory(row, row.size())); });
  const std::vector<std::uint8_t> shorter(4'000);
  test::expect_error(ErrorKind::memory, "the pass needs at least 1", [&] {
    Coordinator small = coordinator({.memory_bytes = 64 * MiB});
    (void)gram(small, from_memory(shorter, shorter.size()));
  });
  const Stats plan = dry_run_gram({}, GetParam(), from_memory(shorter, shorter.size()));
  EXPECT_EQ(plan.outcome.bytes, shorter.size());
}

TEST_P(GramTest, StopsAndErrorsEndIt) {
  const auto values = some_values<double>(1'200'000, 3);
  const Source source = rows_of(values, 3);
  Coordinator products = coordinator();
  std::stop_source stop;
  stop.request_stop();
  test::expect_error(ErrorKind::interrupted, "interrupted", [&] {
    (void)gram(products, source, {}, {.stop = stop.get_token(), .keep_partial = true});
  });
  const PassOptions failing{.progress = [](const Progress&) { throw std::runtime_error("mine"); }};
  EXPECT_THROW((void)gram(products, source, {}, failing), std::runtime_error);
  test::expect_error(ErrorKind::usage, "cannot be saved", [&] {
    (void)gram(products, source, {}, {.checkpoint = {path().string() + ".state"}});
  });
  EXPECT_EQ(gram(products, source).value.size(), 9u);
}

}  // namespace
}  // namespace ooc::detail
