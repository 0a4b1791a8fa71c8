// Tests histograms of pairs against the plain definition, for all element types.

#include <ooc/error.hpp>
#include <ooc/histogram_2d.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "histogram/bins.hpp"
#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "kernels/histogram_2d/one_by_one.hpp"
#include "support/all_types.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::count_one_by_one;
using test::expect_equal;
using test::numbers;

class Histogram2dTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(std::size_t chunk_bytes = 131072) const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = chunk_bytes, .streams = 2});
  }

  template <class T>
  Source source_of(const std::string& name, const std::vector<T>& values) {
    test::write_file(dir_.path() / name, values);
    return open(dir_.path() / name, {.type = DType{element_type_of<T>()}});
  }

  /// Counts, and verifies the result.
  Histogram2d count(const PairAxis& x, const PairAxis& y, const PassOptions& wanted = {}) {
    Coordinator machine = coordinator();
    Histogram2d found = histogram_2d(machine, x, y, wanted).value;
    EXPECT_NO_THROW(verify_histogram_2d(machine, x, y, found));
    return found;
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, Histogram2dTest, test::all_devices, test::device_name);

TEST_P(Histogram2dTest, CountsPairsOfAllTypes) {
  const HistogramOptions even{.bins = 37, .range = {{0, 90}}};
  const HistogramOptions listed{.edges = {-5, 0, 0, 3, 50, 1e9}};
  const binning::Bins even_bins = binning::make_bins(even, *even.range, ErrorKind::usage);
  const binning::Bins listed_bins = binning::make_bins(listed, {}, ErrorKind::usage);
  const auto doubles = numbers<double>(30'011, 7);
  const Source y = source_of("y", doubles);
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(name_of(type));
    visit(type, [&]<class T>(std::type_identity<T>) {
      const auto values = numbers<T>(doubles.size(), 3);
      const Source x = source_of("x", values);
      expect_equal(count({.source = x, .bins = even}, {.source = y, .bins = listed}),
                   count_one_by_one(values, doubles, even_bins, listed_bins));
      expect_equal(count({.source = y, .bins = even}, {.source = x, .bins = listed}),
                   count_one_by_one(doubles, values, even_bins, listed_bins));
    });
  }
}

TEST_P(Histogram2dTest, FindsTheRangesOfBothAxes) {
  std::vector<float> x{3, -1, 7, test::float_infinity, test::float_nan, 2, 7};
  std::vector<std::int16_t> y{10, 20, 30, 40, 50, -60, 30};
  const Source x_source = source_of("x", x), y_source = source_of("y", y);
  const Histogram2d found =
      count({.source = x_source, .bins = {.bins = 4}}, {.source = y_source, .bins = {.bins = 11}});
  const binning::Bins x_bins = binning::make_bins({.bins = 4}, {-1, 7}, ErrorKind::usage);
  const binning::Bins y_bins = binning::make_bins({.bins = 11}, {-60, 50}, ErrorKind::usage);
  expect_equal(found, count_one_by_one(x, y, x_bins, y_bins));
  EXPECT_EQ(found.outside, 1u);
  EXPECT_EQ(found.nan, 1u);
  EXPECT_EQ(histogram_2d_passes({.source = x_source}, {.source = y_source}), 2u);
}

TEST_P(Histogram2dTest, TakesTwoColumnsOfRows) {
  const std::size_t rows = 50'021, columns = 5;
  const auto values = numbers<float>(rows * columns, 11);
  Source table = source_of("table", values);
  table.set_columns(columns);
  std::vector<float> x, y;
  for (std::size_t i = 0; i < rows; ++i) {
    x.push_back(values[i * columns + 4]);
    y.push_back(values[i * columns + 1]);
  }
  const HistogramOptions bins{.bins = 200, .range = {{0, 100}}};  // too many for shared memory
  const binning::Bins made = binning::make_bins(bins, *bins.range, ErrorKind::usage);
  expect_equal(count({.source = table, .column = "4", .bins = bins},
                     {.source = table, .column = "1", .bins = bins}),
               count_one_by_one(x, y, made, made));
}

TEST_P(Histogram2dTest, TakesFieldsOfAnyByteOrder) {
  const std::size_t count_of_records = 20'000;
  const auto prices = numbers<float>(count_of_records, 5);
  const auto sizes = numbers<std::int16_t>(count_of_records, 6);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count_of_records; ++i) {
    const auto size = std::bit_cast<std::array<std::byte, 2>>(sizes[i]);
    const auto price = std::bit_cast<std::array<std::byte, 4>>(prices[i]);
    bytes.insert(bytes.end(), size.rbegin(), size.rend());
    bytes.push_back(std::byte{0xff});
    bytes.insert(bytes.end(), price.begin(), price.end());
  }
  test::write_file(dir_.path() / "structs", bytes);
  DType type;
  type.fields = {{.name = "size", .element = ElementType::i2, .swapped = true, .offset = 0},
                 {.name = "price", .element = ElementType::f4, .offset = 3}};
  type.struct_bytes = 7;
  const Source structs = open(dir_.path() / "structs", {.type = type});
  const HistogramOptions bins{.bins = 10, .range = {{0, 100}}};
  const binning::Bins made = binning::make_bins(bins, *bins.range, ErrorKind::usage);
  expect_equal(count({.source = structs, .column = "price", .bins = bins},
                     {.source = structs, .column = "size", .bins = bins}),
               count_one_by_one(prices, sizes, made, made));
}

TEST_P(Histogram2dTest, TakesAFieldAsASource) {
  const auto prices = numbers<double>(20'000, 5);
  const auto sizes = numbers<std::int16_t>(prices.size(), 6);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const auto size = std::bit_cast<std::array<std::byte, 2>>(sizes[i]);
    const auto price = std::bit_cast<std::array<std::byte, 8>>(prices[i]);
    bytes.insert(bytes.end(), size.begin(), size.end());
    bytes.insert(bytes.end(), price.rbegin(), price.rend());
    bytes.insert(bytes.end(), 3, std::byte{0xff});
  }
  test::write_file(dir_.path() / "structs", bytes);
  DType type;
  type.fields = {{.name = "size", .element = ElementType::i2, .offset = 0},
                 {.name = "price", .element = ElementType::f8, .swapped = true, .offset = 2}};
  type.struct_bytes = 13;
  const Source structs = open(dir_.path() / "structs", {.type = type});
  const Source price = field(structs, "price"), size = field(structs, "size");
  const Source plain = source_of("plain", sizes);
  const HistogramOptions bins{.bins = 10, .range = {{0, 100}}};
  const binning::Bins made = binning::make_bins(bins, *bins.range, ErrorKind::usage);
  const Histogram2d expected = count_one_by_one(prices, sizes, made, made);
  expect_equal(count({.source = price, .bins = bins}, {.source = size, .bins = bins}), expected);
  expect_equal(count({.source = price, .bins = bins}, {.source = plain, .bins = bins}), expected);
}

TEST_P(Histogram2dTest, ChunksMakeNoDifference) {
  const auto x = numbers<float>(300'000, 1);
  const auto y = numbers<float>(300'000, 2);
  const Source x_source = source_of("x", x), y_source = source_of("y", y);
  const PairAxis x_axis{.source = x_source}, y_axis{.source = y_source};
  Coordinator small = coordinator(65536), large = coordinator(4 << 20);
  expect_equal(histogram_2d(small, x_axis, y_axis).value,
               histogram_2d(large, x_axis, y_axis).value);
}

TEST_P(Histogram2dTest, GoesOnWhereItWasInterrupted) {
  const Source x = source_of("x", numbers<float>(400'000, 1));
  const Source y = source_of("y", numbers<std::int16_t>(400'000, 2));
  const PairAxis x_axis{.source = x}, y_axis{.source = y};
  const Histogram2d whole = count(x_axis, y_axis);
  const Checkpoint checkpoint{.file = dir_.path() / "part", .every_seconds = 0};
  std::stop_source stop;
  PassOptions wanted{.stop = stop.get_token(), .checkpoint = checkpoint};
  wanted.progress = [&](const Progress& progress) {
    if (progress.bytes > progress.total_bytes / 2) stop.request_stop();
  };
  Coordinator machine = coordinator();
  test::expect_error(ErrorKind::interrupted, "part",
                     [&] { (void)histogram_2d(machine, x_axis, y_axis, wanted); });
  const auto [found, stats] = histogram_2d(machine, x_axis, y_axis, {.checkpoint = checkpoint});
  expect_equal(found, whole);
  EXPECT_GT(stats.outcome.resumed_bytes, 0u);
}

TEST_P(Histogram2dTest, SeesThatTheNumbersHaveChanged) {
  std::vector<float> values = numbers<float>(300'000, 1);
  const Source y = source_of("y", values);
  const auto refuses_with = [&](float changed) {
    const Source x = source_of("x", std::vector<float>(values.size(), 1));
    bool is_done = false;
    PassOptions wanted;
    wanted.progress = [&](const Progress& progress) {
      if (is_done || progress.bytes < progress.total_bytes) return;
      is_done = true;  // the end of the first pass: the size and the time of the file stay
      std::fstream file(dir_.path() / "x", std::ios::in | std::ios::out | std::ios::binary);
      for (int i = 0; i < 300'000; ++i) file.write(reinterpret_cast<const char*>(&changed), 4);
    };
    Coordinator machine = coordinator();
    test::expect_error(ErrorKind::input_changed, "changed",
                       [&] { (void)histogram_2d(machine, {.source = x}, {.source = y}, wanted); });
  };
  refuses_with(1e9f);
  refuses_with(test::float_nan);
}

TEST_P(Histogram2dTest, OfNoPairs) {
  const Source none = source_of("none", std::vector<float>{});
  const HistogramOptions bins{.bins = 2, .range = {{0, 1}}};
  const Histogram2d given = count({.source = none, .bins = bins}, {.source = none, .bins = bins});
  EXPECT_EQ(given.counts, (std::vector<std::uint64_t>{0, 0, 0, 0}));
  const Histogram2d found = count({.source = none}, {.source = none, .bins = bins});
  EXPECT_TRUE(found.counts.empty() && found.x_edges.empty() && found.y_edges.empty());
}

TEST_P(Histogram2dTest, RefusesWhatHasNoPairs) {
  const Source four = source_of("four", std::vector<float>{1, 2, 3, 4});
  const Source three = source_of("three", std::vector<float>{1, 2, 3});
  Source rows = source_of("rows", std::vector<float>{1, 2, 3, 4, 5, 6});
  rows.set_columns(3);
  const auto refuses = [&](ErrorKind kind, const std::string& what, const PairAxis& x,
                           const PairAxis& y) {
    Coordinator machine = coordinator();
    test::expect_error(kind, what, [&] { (void)histogram_2d(machine, x, y); });
  };
  refuses(ErrorKind::bad_input, "4 records", {.source = four}, {.source = three});
  refuses(ErrorKind::usage, "has no column 3", {.source = rows, .column = "3"},
          {.source = rows, .column = "0"});
  refuses(ErrorKind::usage, "is for one axis", {.source = four, .bins = {.bins = BinRule::fd}},
          {.source = four});
  refuses(ErrorKind::usage, "cells", {.source = four, .bins = {.bins = 8192}},
          {.source = four, .bins = {.bins = 4096}});
  const Source no_numbers = source_of("nan", std::vector<float>(4, test::float_nan));
  refuses(ErrorKind::bad_input, "no finite value", {.source = four}, {.source = no_numbers});
}

TEST_P(Histogram2dTest, RefusesAnotherOrderOfTheElements) {
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  const Source by_columns = open(dir_.write("f.npy", test::npy(header, 24)), {.by_columns = true});
  Source by_rows = source_of("c", std::vector<float>(6));
  by_rows.set_shape({2, 3});
  Coordinator machine = coordinator();
  test::expect_error(ErrorKind::bad_input, "has other rows", [&] {
    (void)histogram_2d(machine, {.source = by_rows}, {.source = by_columns});
  });
  by_rows.set_shape({3, 2});
  Source rows_of_one = source_of("e", std::vector<float>(6));
  rows_of_one.set_columns(1);
  test::expect_error(ErrorKind::bad_input, "column by column", [&] {
    (void)histogram_2d(machine, {.source = rows_of_one, .column = "0"}, {.source = by_columns});
  });
  Source wide = source_of("d", std::vector<float>(6));
  wide.set_shape({2, 3});
  test::expect_error(ErrorKind::bad_input, "has other rows",
                     [&] { (void)histogram_2d(machine, {.source = by_rows}, {.source = wide}); });
}

TEST_P(Histogram2dTest, TheCheckFindsDifferences) {
  const auto x = numbers<float>(1000, 1);
  const Source source = source_of("x", x);
  const PairAxis axis{.source = source, .bins = {.bins = 8, .range = {{0, 100}}}};
  Coordinator machine = coordinator();
  const Histogram2d found = histogram_2d(machine, axis, axis).value;
  const auto refuses = [&](const std::string& what, const Histogram2d& wrong) {
    test::expect_error(ErrorKind::verify, what,
                       [&] { verify_histogram_2d(machine, axis, axis, wrong); });
  };
  Histogram2d wrong = found;
  std::swap(wrong.counts[0], wrong.counts[1]);
  ASSERT_NE(wrong.counts, found.counts);
  refuses("counts[0][0]", wrong);
  wrong = found;
  ++wrong.nan;
  refuses("nan", wrong);
  wrong = found;
  ++wrong.outside;
  refuses("outside", wrong);
  wrong = found;
  wrong.y_edges[3] += 1e-9;
  refuses("y_edges[3]", wrong);
  wrong = found;
  wrong.x_edges.pop_back();
  refuses("the number of", wrong);
}

}  // namespace
}  // namespace ooc::detail
