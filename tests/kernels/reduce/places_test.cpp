// Tests reduce() of arrays in Fortran order: the first places of extremes and of NaN are those in
// row-major order, as NumPy counts.

#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "kernels/reduce/reduce_fixture.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using ArrayShape = std::vector<std::uint64_t>;

std::uint64_t size_of(const ArrayShape& shape) {
  std::uint64_t size = 1;
  for (const std::uint64_t length : shape) size *= length;
  return size;
}

/// An array in the order of its file, by rows or by columns.
template <class T>
struct Array {
  ArrayShape shape;
  bool by_columns;
  std::vector<T> values;

  /// The values in row-major order.
  std::vector<T> by_rows() const {
    if (!by_columns) return values;
    std::vector<T> rows(values.size());
    ArrayShape at(shape.size(), 0);  // of the next value of the file
    for (const T& value : values) {
      std::uint64_t place = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + at[d];
      rows[place] = value;
      for (std::size_t d = 0; d < shape.size() && ++at[d] == shape[d]; ++d) at[d] = 0;
    }
    return rows;
  }
};

/// Values of which many are equal, and with `nan` some NaN; both zeros are among them.
template <class T>
Array<T> array_of(const ArrayShape& shape, bool by_columns, unsigned kinds, bool nan = false) {
  std::mt19937 random(static_cast<unsigned>(shape.size()) + kinds);
  Array<T> array{shape, by_columns, std::vector<T>(size_of(shape))};
  for (T& value : array.values) {
    value = static_cast<T>(random() % kinds);
    if constexpr (std::is_floating_point_v<T>) {
      if (random() % 2 == 0) value = -value;
      if (nan && random() % 100 == 0) value = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return array;
}

class PlacesTest : public test::ReduceTest {
 protected:
  template <class T>
  std::filesystem::path write(const std::string& name, const Array<T>& array) const {
    std::string shape = "(";
    for (const std::uint64_t length : array.shape) shape += std::to_string(length) + ", ";
    const std::string code = "'" + code_of(DType{element_type_of<T>()}) + "'";
    std::string file =
        test::npy(test::header_of(code, array.by_columns ? "True" : "False", shape + ")"), 0);
    file.append(reinterpret_cast<const char*>(array.values.data()),
                array.values.size() * sizeof(T));
    return dir_.write(name, file);
  }

  /// Compares statistics with those of the values in row-major order.
  template <class T>
  void expect_places(const Source& source, const std::vector<T>& rows) {
    const ooc::Source by_rows = source_of(rows);
    for (const NanPolicy nan : {NanPolicy::propagate, NanPolicy::omit}) {
      const ReduceOptions options{.nan = nan};
      const Statistics found = reduce_it(source, options);
      const Statistics expected = reduce_it(by_rows, options);
      EXPECT_EQ(found.argmin, expected.argmin);
      EXPECT_EQ(found.argmax, expected.argmax);
      EXPECT_EQ(found.nan, expected.nan);
      const auto bits = [](const Scalar& value) {
        const auto* const real = std::get_if<double>(&value);
        return real == nullptr ? 0 : test::bits_of(*real);
      };
      EXPECT_EQ(bits(found.min), bits(expected.min));  // of the zero that is first
      EXPECT_EQ(bits(found.max), bits(expected.max));
      Coordinator coordinator(make_device(DeviceKind::cpu));
      verify_reduce(coordinator, source, options, found);
    }
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, PlacesTest, test::all_devices, test::device_name);

const std::vector<ArrayShape> array_shapes{{3, 5},           {2, 70'000},   {70'000, 2},
                                           {65'536, 3},      {300, 7, 101}, {2, 3, 5, 7},
                                           {1, 500, 1, 400}, {999, 1001},   {2, 2, 2, 30'000}};

TEST_P(PlacesTest, AreThoseOfRows) {
  for (const ArrayShape& shape : array_shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    for (const unsigned kinds : {1u, 2u, 200u}) {
      const auto bytes = array_of<std::uint8_t>(shape, true, kinds);
      expect_places(open(write("x.npy", bytes), {.by_columns = true}), bytes.by_rows());
      for (const bool nan : {false, true}) {
        const auto reals = array_of<double>(shape, true, kinds, nan);
        expect_places(open(write("x.npy", reals), {.by_columns = true}), reals.by_rows());
      }
    }
    const auto many = array_of<std::int32_t>(shape, true, 1u << 30);
    expect_places(open(write("x.npy", many), {.by_columns = true}), many.by_rows());
  }
}

TEST_P(PlacesTest, CountFromTheStartOfAllFiles) {
  std::vector<std::filesystem::path> paths;
  std::vector<float> rows;
  for (const auto& [shape, by_columns] : {std::pair{ArrayShape{300, 400}, true},
                                          {ArrayShape{70'000}, false},
                                          {ArrayShape{7, 30'000}, true},
                                          {ArrayShape{2, 2}, true},
                                          {ArrayShape{40, 50}, false}}) {
    const auto array = array_of<float>(shape, by_columns, 1000);
    paths.push_back(write(std::to_string(paths.size()) + ".npy", array));
    const std::vector<float> more = array.by_rows();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  expect_places(open(paths, {.by_columns = true}), rows);
}

TEST_P(PlacesTest, OfShardsAreThoseOfTheWhole) {
  const auto array = array_of<float>({999, 1001}, true, 100);
  const Source source = open(write("x.npy", array), {.by_columns = true});
  const Statistics expected = reduce_it(source_of(array.by_rows()));
  Coordinator coordinator(make_device(GetParam()));
  std::optional<PartialResult<Statistics>> total;
  for (const std::uint64_t index : {2u, 0u, 3u, 1u}) {
    auto part = collect_reduce(coordinator, shard(source, index, 4)).value;
    if (total) {
      total->merge(load_reduce(ElementType::f4, {}, part.save()));
    } else {
      total.emplace(std::move(part));
    }
  }
  const Statistics found = std::move(*total).result();
  EXPECT_EQ(found.argmin, expected.argmin);
  EXPECT_EQ(found.argmax, expected.argmax);
}

TEST_P(PlacesTest, OfAPartAreRefused) {
  const auto path = write("x.npy", array_of<float>({30, 40}, true, 10));
  try {
    open(path, {.count = 1199, .by_columns = true});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
  EXPECT_EQ(open(path, {.count = 1200, .by_columns = true}).column_major().size(), 1u);
}

}  // namespace
}  // namespace ooc::detail
