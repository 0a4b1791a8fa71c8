// Tests reduce_rows() against reduce() of each row.

#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/devices.hpp"
#include "support/effort.hpp"

#include "support/special_values.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

constexpr RowValue all_values[] = {RowValue::sum,      RowValue::mean,   RowValue::minimum,
                                   RowValue::maximum,  RowValue::argmin, RowValue::argmax,
                                   RowValue::variance, RowValue::stddev};

/// Appends the bytes of what is expected of a row, given its statistics.
template <class T>
void append_expected(const Statistics& found, std::span<const T> row, RowValue value,
                     std::string& bytes) {
  const auto append = [&bytes](auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const auto real = [](const std::optional<double>& number) { return number.value_or(test::nan); };
  const bool least = value == RowValue::minimum || value == RowValue::argmin;
  const std::optional<std::uint64_t> place = least ? found.argmin : found.argmax;
  switch (value) {
    case RowValue::mean: return append(real(found.mean));
    case RowValue::variance: return append(real(found.variance));
    case RowValue::stddev: return append(real(found.stddev));
    case RowValue::sum:
      if constexpr (is_floating<T>) return append(found.sum.value());
      return append(static_cast<std::uint64_t>(std::get<int128>(found.sum)));
    case RowValue::argmin:
    case RowValue::argmax: return append(place ? static_cast<std::int64_t>(*place) : -1);
    case RowValue::minimum:
    case RowValue::maximum:
      if (place) return append(row[*place]);
      if constexpr (std::is_same_v<T, Float16>) return append(std::uint16_t{0x7e00});
      if constexpr (std::is_same_v<T, BFloat16>) return append(std::uint16_t{0x7fc0});
      return append(std::numeric_limits<T>::quiet_NaN());
  }
}

class ReduceRowsTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(std::size_t chunk_bytes, std::size_t streams) const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = chunk_bytes, .streams = streams});
  }

  std::filesystem::path path() const { return dir_.path() / "rows.bin"; }

  /// Returns the bytes of a raw target, and verifies them.
  std::string results(Coordinator& maps, const Source& source, const ReduceRowsOptions& options) {
    const auto [count, stats] =
        reduce_rows(maps, source, {.path = path(), .replace = true}, options);
    const ElementType made = row_value_type(source.element(), options.value);
    if (count != 0) verify_reduce_rows(maps, source, open(path(), {.type = made}), options);
    return test::read_whole(path());
  }

  template <class T>
  void expect_defined(const std::vector<T>& values, std::size_t columns) {
    SCOPED_TRACE(std::string(name_of(element_type_of<T>())) + ", rows of " +
                 std::to_string(columns));
    Coordinator maps = coordinator(512 * KiB, 3);
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::omit}) {
      if (!is_floating<T> && nan == NanPolicy::omit) continue;  // integers have none
      std::string expected[std::size(all_values)];
      for (std::size_t i = 0; i < values.size(); i += columns) {
        const std::vector<T> row(values.begin() + static_cast<std::ptrdiff_t>(i),
                                 values.begin() + static_cast<std::ptrdiff_t>(i + columns));
        const Statistics found =
            reduce(whole_, from_memory(row), {.nan = nan, .exact = false}).value;
        for (const RowValue value : all_values) {
          append_expected(found, std::span(row), value, expected[static_cast<std::size_t>(value)]);
        }
      }
      for (const RowValue value : all_values) {
        EXPECT_TRUE(results(maps, from_memory(values, columns), {value, nan}) ==
                    expected[static_cast<std::size_t>(value)])
            << static_cast<int>(value) << (nan == NanPolicy::omit ? " without NaN" : "");
      }
    }
  }

  test::TempDir dir_;
  Coordinator whole_{make_device(DeviceKind::cpu), {.chunk_bytes = 1 * MiB, .streams = 1}};
};

INSTANTIATE_TEST_SUITE_P(Devices, ReduceRowsTest, test::all_devices, test::device_name);

TEST_P(ReduceRowsTest, EveryTypeHasTheBitsOfReduce) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_defined(test::varied_values<T>(90 * 3), 3);
      expect_defined(test::random_bits<T>(40 * 17), 17);
      expect_defined(test::varied_values<T>(5 * 700), 700);
      expect_defined(test::varied_values<T>(2 * 150'000), 150'000);
    });
  }
}

TEST_P(ReduceRowsTest, AnyLengthHasTheBitsOfReduce) {
  for (const std::size_t columns :
       {1,   2,   4,   5,   8,   31,   32,   33,   63,    64,    65,    127,   128,
        129, 255, 256, 257, 511, 1023, 1024, 1025, 65535, 65536, 65537, 131072}) {
    const std::size_t rows = columns < 1000 ? 40 : 3;
    expect_defined(test::rough_numbers(rows * columns), columns);
  }
}

TEST_P(ReduceRowsTest, ManyTilesMeetInTheTreeOfReduce) {
  for (const std::size_t tiles : {3, 6, 11}) {
    expect_defined(test::rough_numbers(2 * (tiles * tile_elements - 5)), tiles * tile_elements - 5);
  }
}

TEST_P(ReduceRowsTest, SpecialValuesStayInTheirRow) {
  for (const std::size_t columns : {6, 300}) {
    std::vector<double> values(8 * columns, 1.5);
    const auto set = [&](std::size_t row, std::size_t column, double value) {
      values[row * columns + column] = value;
    };
    set(0, 5, test::nan);
    set(1, 2, test::infinity);
    set(2, 0, test::infinity), set(2, 4, -test::infinity);
    set(3, 1, -0.0), set(3, 2, 0.0), set(3, 4, -1.0);
    for (std::size_t column = 0; column < columns; ++column) set(4, column, test::nan);
    set(5, 1, 1e308), set(5, 2, 1e308), set(5, 3, -1e308);
    for (std::size_t column = 0; column < columns; ++column) set(6, column, -0.0);
    expect_defined(values, columns);
  }
}

TEST_P(ReduceRowsTest, SumsOfIntegersWrapAround) {
  constexpr auto large = std::numeric_limits<std::int64_t>::max();
  expect_defined(std::vector<std::int64_t>{large, large, 5, -large, -large, -7}, 3);
  expect_defined(std::vector<std::uint64_t>(6, ~std::uint64_t{0}), 3);
}

TEST_P(ReduceRowsTest, ResultsHaveTheSameBitsHoweverTheyAreRead) {
  constexpr std::size_t columns = 75;
  const std::vector<float> values = test::rough_numbers(columns * test::effort(40'000, 5'000));
  const Source source = from_memory(values, columns);
  std::string first;
  for (const std::size_t chunk : {1 * KiB, 100 * KiB, 1 * MiB}) {
    for (const std::size_t streams : {1, 2, 5}) {
      Coordinator maps = coordinator(chunk, streams);
      const std::string found = results(maps, source, {.value = RowValue::variance});
      if (first.empty()) first = found;
      EXPECT_TRUE(found == first) << chunk << ", " << streams;
    }
  }
}

TEST_P(ReduceRowsTest, RowsOfSeveralDimensionsAreFlat) {
  const std::vector<float> values(5 * 3 * 4, 1.0f);
  Source source = from_memory(values);
  source.set_shape({5, 3, 4});
  Coordinator maps = coordinator(1 * MiB, 2);
  const Target target{.path = dir_.path() / "rows.npy"};
  EXPECT_EQ(reduce_rows(maps, source, target).value, 5u);
  const Source found = open(target.path);
  ASSERT_EQ(found.shape().size(), 1u);
  EXPECT_EQ(found.elements(), 5u);
  EXPECT_EQ(found.element(), ElementType::f8);
  verify_reduce_rows(maps, source, found);
}

TEST_P(ReduceRowsTest, NoRowsHaveNoResults) {
  const std::vector<float> nothing;
  Source source = from_memory(nothing);
  source.set_shape({0, 4});
  Coordinator maps = coordinator(1 * MiB, 2);
  EXPECT_EQ(results(maps, source, {}), "");
}

TEST_P(ReduceRowsTest, RefusesWhatIsNotRowsOfNumbers) {
  Coordinator maps = coordinator(1 * MiB, 2);
  const std::vector<float> values(12);
  const Source rows = from_memory(values, 4);
  test::expect_error(ErrorKind::usage, "is to hold <f4, not <f8", [&] {
    (void)reduce_rows(maps, rows, {.path = path(), .type = ElementType::f4});
  });
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }";
  const Source by_columns = open(dir_.write("f.npy", test::npy(header, 24)), {.by_columns = true});
  test::expect_error(ErrorKind::bad_input, "stored column by column",
                     [&] { (void)reduce_rows(maps, by_columns, {.path = path()}); });
  EXPECT_FALSE(exists(path()));
}

TEST_P(ReduceRowsTest, TheCheckNamesTheRow) {
  std::vector<float> values = test::rough_numbers(5000 * 3);
  const Source source = from_memory(values, 3);
  Coordinator maps = coordinator(1 * MiB, 2);
  for (const RowValue value : all_values) {
    const ReduceRowsOptions options{.value = value};
    std::string bytes = results(maps, source, options);
    const ElementType made = row_value_type(ElementType::f4, value);
    const std::size_t size = size_of(made);
    bytes[4321 * size + size - 1] = static_cast<char>(bytes[4321 * size + size - 1] ^ 1);
    dir_.write("rows.bin", bytes);
    test::expect_error(ErrorKind::verify, "row 4321: ", [&] {
      verify_reduce_rows(maps, source, open(path(), {.type = made}), options);
    });
  }
  dir_.write("rows.bin", std::string(8 * 4999, '\0'));
  test::expect_error(ErrorKind::verify, "number of elements", [&] {
    verify_reduce_rows(maps, source, open(path(), {.type = ElementType::f8}));
  });
}

}  // namespace
}  // namespace ooc::detail
