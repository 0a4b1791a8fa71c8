#include <ooc/detail/engine/engine.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "histogram/bins.hpp"
#include "kernels/histogram/each_device.hpp"
#include "kernels/histogram/expect_histogram.hpp"
#include "support/counted_new.hpp"
#include "support/data_file.hpp"
#include "support/special_values.hpp"

namespace ooc::detail {
namespace {

using test::infinity;
using test::nan;

/// Counts by the definition, one value after the other.
template <class T>
Histogram count_one_by_one(const std::vector<T>& values, const HistogramOptions& options,
                           HistogramOptions::Range range) {
  const binning::Bins bins = binning::make_bins(options, range, ErrorKind::usage);
  std::vector<std::uint64_t> counts(bins.counters());
  for (const T value : values) {
    ++counts[binning::visit(bins, [&](auto found) { return found.bin_of(to_double(value)); })];
  }
  Histogram expected{.edges = bins.edges, .counts = counts, .count = values.size()};
  expected.counts.resize(bins.size());
  expected.below = counts[bins.size()];
  expected.above = counts[bins.size() + 1];
  expected.nan = counts[bins.size() + 2];
  return expected;
}

class HistogramTest : public test::HistogramOnEachDevice {
 protected:
  template <class T>
  void expect_definition() {
    const auto values = test::varied_values<T>(200'003);
    const Source source = source_of(values, false, sizeof(T));
    const HistogramOptions all[] = {{.bins = 256, .range = {{0, 256}}},
                                    {.bins = 5, .range = {{-1e-3, 100}}},
                                    {.bins = 40'000, .range = {{-1e5, 1e5}}},
                                    {.bins = 100, .range = {{0.01, 1e9}}, .logarithmic = true},
                                    {.edges = {-1, 0, 0, 7.5, 100, 100}}};
    for (const HistogramOptions& options : all) {
      const auto range = options.range.value_or(HistogramOptions::Range{});
      test::expect_equal(count(source, options).value, count_one_by_one(values, options, range));
    }
  }
};

TEST_P(HistogramTest, CountsEveryTypeByTheDefinition) {
  expect_definition<std::uint8_t>();
  expect_definition<std::uint16_t>();
  expect_definition<std::uint32_t>();
  expect_definition<std::uint64_t>();
  expect_definition<std::int8_t>();
  expect_definition<std::int16_t>();
  expect_definition<std::int32_t>();
  expect_definition<std::int64_t>();
  expect_definition<Float16>();
  expect_definition<float>();
  expect_definition<double>();
  expect_definition<BFloat16>();
}

TEST_P(HistogramTest, CountsTheSameHoweverItIsRead) {
  auto values = test::varied_values<float>(900'001);
  // finite values small enough that they do not all fall into one bin
  for (float& value : values) {
    if (std::isfinite(value)) value = std::fmod(value, 1000.0f);
  }
  values[7] = static_cast<float>(infinity);
  values[8] = static_cast<float>(-infinity);
  double lowest = 0, highest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, double{value});
    highest = std::max(highest, double{value});
  }
  const Source source = source_of(values);
  const Histogram expected = count_one_by_one(values, {}, {lowest, highest});
  for (const std::size_t tiles : {1, 3, 16}) {
    for (const std::size_t streams : {1, 2, 3, 8}) {
      for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
        const auto [found, stats] =
            count(source, {},
                  {.chunk_bytes = tiles * tile_elements * 4, .streams = streams, .engine = engine});
        test::expect_equal(found, expected);
        EXPECT_EQ(stats.outcome.passes, 2u);
        EXPECT_EQ(stats.outcome.bytes, values.size() * 4);
      }
    }
  }
}

TEST_P(HistogramTest, SwapsBytes) {
  const std::vector<std::uint16_t> values{0x0100, 0x0200, 0x0300, 0x0300};
  source_of(values);
  const Source swapped = open(path(), {.type = DType{ElementType::u2, true}});
  EXPECT_EQ(count(swapped, {.bins = 3, .range = {{1, 3}}}).value.counts,
            (std::vector<std::uint64_t>{1, 1, 2}));
}

TEST_P(HistogramTest, BytesNeedNoFirstPass) {
  std::vector<std::uint8_t> values(256 * 1000);
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  const std::vector<std::uint64_t> thousands(256, 1000);
  const auto [bytes, stats] = count(source_of(values));
  EXPECT_EQ(stats.outcome.passes, 1u);
  EXPECT_EQ(bytes.edges.front(), 0);
  EXPECT_EQ(bytes.edges.back(), 256);
  EXPECT_EQ(bytes.counts, thousands);

  const Histogram untyped = count(open_bytes(path())).value;
  EXPECT_EQ(untyped.counts, thousands);

  const Histogram with_sign = count(open(path(), {.type = DType{ElementType::i1}})).value;
  EXPECT_EQ(with_sign.edges.front(), -128);
  EXPECT_EQ(with_sign.edges.back(), 128);
  EXPECT_EQ(with_sign.counts, thousands);
}

TEST_P(HistogramTest, LogarithmicBinsOfBytesUseTheirRange) {
  const std::vector<std::uint8_t> values{1, 2, 4, 8, 16};
  const auto [found, stats] = count(source_of(values), {.bins = 2, .logarithmic = true});
  EXPECT_EQ(found.edges.front(), 1);
  EXPECT_EQ(found.edges.back(), 16);
  EXPECT_EQ(stats.outcome.passes, 2u);
  expect_error(ErrorKind::bad_input, source_of(std::vector<std::uint8_t>{0, 1}),
               {.logarithmic = true});
}

TEST_P(HistogramTest, FullRangeIntegersSpreadOverAllBins) {
  std::vector<std::int16_t> values(65536);
  std::iota(values.begin(), values.end(), std::numeric_limits<std::int16_t>::min());
  EXPECT_EQ(count(source_of(values), {.bins = 256, .range = {{-32768, 32768}}}).value.counts,
            std::vector<std::uint64_t>(256, 256));
  const Histogram found = count(source_of(values), {.bins = 65535}).value;
  EXPECT_EQ(found.counts.back(), 2u);  // the last bin includes its upper edge
  EXPECT_EQ(std::count(found.counts.begin(), found.counts.end(), 1u), 65534);
}

TEST_P(HistogramTest, AMillionBins) {
  std::vector<std::uint32_t> values(3 * max_bins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i % max_bins);
  }
  const HistogramOptions options{.bins = max_bins, .range = {{0, static_cast<double>(max_bins)}}};
  const auto found = count(source_of(values), options, {.streams = 3}).value;
  EXPECT_EQ(found.counts, std::vector<std::uint64_t>(max_bins, 3));

  std::ranges::fill(values, 77u);
  EXPECT_EQ(count(source_of(values), options).value.counts[77], values.size());
}

TEST_P(HistogramTest, ConstantDataGetsARangeOfOne) {
  const Histogram found = count(source_of(std::vector<float>(100'000, 3)), {.bins = 4}).value;
  EXPECT_EQ(found.edges, (std::vector{2.5, 2.75, 3.0, 3.25, 3.5}));
  EXPECT_EQ(found.counts, (std::vector<std::uint64_t>{0, 0, 100'000, 0}));
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>(10, 1e17)));
}

TEST_P(HistogramTest, DataWithoutRange) {
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>{nan, infinity}));
  expect_error(ErrorKind::bad_input, source_of(std::vector<double>{-1.7e308, 1.7e308}));
  expect_error(ErrorKind::bad_input, source_of(std::vector<float>{-1, 1}), {.logarithmic = true});
  const Source neighbours = source_of(std::vector<double>{1, 1 + 0x1p-52});
  expect_error(ErrorKind::bad_input, neighbours, {.bins = 10});  // no double is between them
  expect_error(ErrorKind::usage, neighbours, {.bins = 10, .range = {{1, 1 + 0x1p-52}}});
  EXPECT_EQ(count(neighbours, {.bins = 1}).value.counts, std::vector<std::uint64_t>{2});

  const std::vector<double> values{nan, infinity, -infinity, infinity};
  const Histogram found = count(source_of(values), {.range = {{0, 1}}}).value;
  EXPECT_EQ(found.below, 1u);
  EXPECT_EQ(found.above, 2u);
  EXPECT_EQ(found.nan, 1u);
}

TEST_P(HistogramTest, ZerosHaveOneSign) {
  const Histogram found = count(source_of(std::vector<double>{-1, -0.0, 0.0}), {.bins = 1}).value;
  EXPECT_FALSE(std::signbit(found.edges.back()));
}

TEST_P(HistogramTest, RefusesNonsenseBeforeReading) {
  Options unreadable;
  unreadable.make_engine = [](const EngineOptions&) -> std::unique_ptr<Engine> {
    throw std::logic_error("it reads");
  };
  const Source source = source_of(std::vector<float>{1, 2});
  expect_error(ErrorKind::usage, source, {.bins = 0}, unreadable);
  expect_error(ErrorKind::usage, source, {.bins = max_bins + 1}, unreadable);
  expect_error(ErrorKind::usage, source, {.range = {{1, 0}}}, unreadable);
  expect_error(ErrorKind::usage, source, {.range = {{nan, 0}}}, unreadable);
  expect_error(ErrorKind::usage, source, {.range = {{0, infinity}}}, unreadable);
  expect_error(ErrorKind::usage, source, {.edges = {1, 0}}, unreadable);
}

TEST_P(HistogramTest, ThePlanKnowsThePasses) {
  const Source floats = source_of(std::vector<float>{1, 2, 3});
  const HistogramOptions all_options[] = {
      {}, {.range = {{0, 1}}}, {.logarithmic = true}, {.edges = {0, 1}}};
  for (const HistogramOptions& options : all_options) {
    const Stats plan = dry_run_histogram({}, GetParam(), floats, options);
    const Stats done = count(floats, options).stats;
    EXPECT_EQ(plan.outcome.passes, done.outcome.passes);
    EXPECT_EQ(plan.outcome.bytes, done.outcome.bytes);
    EXPECT_EQ(plan.layout.chunk_bytes, done.layout.chunk_bytes);
  }
  EXPECT_THROW(dry_run_histogram({}, GetParam(), floats, {.bins = 0}), Error);
  EXPECT_THROW(dry_run_histogram({}, GetParam(), floats, {.range = {{1, 0}}}), Error);
}

TEST_P(HistogramTest, EmptySource) {
  using Counts = std::vector<std::uint64_t>;
  const Source empty = source_of(std::vector<float>{});
  for (const HistogramOptions& options : {HistogramOptions{}, {.logarithmic = true}}) {
    const auto [found, stats] = count(empty, options);
    EXPECT_EQ(found.count, 0u);
    EXPECT_TRUE(found.counts.empty());
    EXPECT_TRUE(found.edges.empty());
    EXPECT_FALSE(stats.outcome.partial);
  }
  EXPECT_TRUE(count(source_of(std::vector<std::uint8_t>{})).value.edges.empty());
  for (const HistogramOptions& options :
       {HistogramOptions{.bins = 2, .range = {{1, 5}}}, {.edges = {1, 3, 5}}}) {
    const Histogram found = count(empty, options).value;
    EXPECT_EQ(found.edges, (std::vector<double>{1, 3, 5}));
    EXPECT_EQ(found.counts, (Counts{0, 0}));
    EXPECT_EQ(found.below + found.above + found.nan + found.count, 0u);
  }
  expect_error(ErrorKind::usage, empty, {.bins = 0});
  expect_error(ErrorKind::usage, empty, {.range = {{1, 0}}});
}

TEST_P(HistogramTest, AllocatesNothingForMoreChunks) {
  const auto count_for = [&](std::size_t tiles) {
    const Source source = source_of(std::vector<float>(tiles * tile_elements, 1));
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 2});
    return test::count_of_new_when_repeated([&] { histogram(coordinator, source); });
  };
  // A lane allocates at its first step, and it may never draw one.
  EXPECT_LT(count_for(50), count_for(4) + 46 / 4);
}

INSTANTIATE_TEST_SUITE_P(Devices, HistogramTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
