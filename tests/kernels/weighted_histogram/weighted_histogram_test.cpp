// Tests histograms with weights against the plain definition, for all element types.

#include <ooc/error.hpp>
#include <ooc/weighted_histogram.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "histogram/bins.hpp"
#include "io/expect_error.hpp"
#include "kernels/weighted_histogram/one_by_one.hpp"
#include "support/all_types.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/local_ranks.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::add_one_by_one;
using test::expect_equal;
using test::expect_same;
using test::finite_weights;
using test::random_weights;

class WeightedHistogramTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(std::size_t chunk_bytes = 131072, std::size_t streams = 2) const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = chunk_bytes, .streams = streams});
  }

  template <class T>
  Source source_of(const std::string& name, const std::vector<T>& values) {
    test::write_file(dir_.path() / name, values);
    return open(dir_.path() / name, {.type = DType{element_type_of<T>()}});
  }

  /// Adds up, and verifies the result.
  WeightedHistogram add(const Source& values, const Source& weights,
                        const HistogramOptions& options, const PassOptions& wanted = {}) {
    Coordinator machine = coordinator();
    WeightedHistogram found = weighted_histogram(machine, values, weights, options, wanted).value;
    EXPECT_NO_THROW(verify_weighted_histogram(machine, values, weights, options, found));
    return found;
  }

  /// Adds the weights of equal values.
  template <class W>
  Scalar sum(const std::vector<W>& weights) {
    const Source values = source_of("ones", std::vector<std::uint8_t>(weights.size(), 1));
    const HistogramOptions one{.bins = 1, .range = {{0, 2}}};
    return add(values, source_of("weights", weights), one).sums.at(0);
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, WeightedHistogramTest, test::all_devices, test::device_name);

TEST_P(WeightedHistogramTest, AddsWeightsOfAllTypes) {
  const HistogramOptions even{.bins = 37, .range = {{0, 90}}};
  const HistogramOptions listed{.edges = {-5, 0, 0, 3, 50, 1e9}};
  const binning::Bins even_bins = binning::make_bins(even, *even.range, ErrorKind::usage);
  const binning::Bins listed_bins = binning::make_bins(listed, {}, ErrorKind::usage);
  const auto values = random_weights<float>(30'011, 7);
  const Source x = source_of("x", values);
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(name_of(type));
    visit(type, [&]<class T>(std::type_identity<T>) {
      const auto any = random_weights<T>(values.size(), 3);
      expect_equal(add(x, source_of("w", any), even), add_one_by_one(values, any, even_bins));
      const auto finite = finite_weights<T>(values.size(), 4);
      const Source w = source_of("w", finite);
      expect_equal(add(x, w, listed), add_one_by_one(values, finite, listed_bins));
      // The same numbers are values, too.
      expect_equal(add(w, x, even), add_one_by_one(finite, values, even_bins));
    });
  }
}

TEST_P(WeightedHistogramTest, FindsTheRangeOfTheValues) {
  const std::vector<float> values{3, -1, 7, test::float_infinity, test::float_nan, 2, 7};
  const std::vector<double> weights{1, 1e300, 0.5, 4, 8, 16, 32};
  const Source x = source_of("x", values), w = source_of("w", weights);
  const WeightedHistogram found = add(x, w, {.bins = 4});
  expect_equal(found, add_one_by_one(values, weights,
                                     binning::make_bins({.bins = 4}, {-1, 7}, ErrorKind::usage)));
  expect_same(found.sum_above, 4.0);
  expect_same(found.sum_nan, 8.0);
  expect_same(found.sums[3], 32.5);
  EXPECT_EQ(dry_run_weighted_histogram({}, DeviceKind::cpu, x, w).outcome.passes, 2u);
}

TEST_P(WeightedHistogramTest, BytesHaveTheirDefaultRange) {
  const std::vector<std::uint8_t> values{0, 255, 255};
  const std::vector<std::int16_t> weights{-5, 7, 8};
  const WeightedHistogram found = add(source_of("x", values), source_of("w", weights), {});
  ASSERT_EQ(found.sums.size(), 256u);
  expect_same(found.sums[0], int128{-5});
  expect_same(found.sums[255], int128{15});
}

TEST_P(WeightedHistogramTest, SumsAreExact) {
  expect_same(sum<double>({1e308, -1e308, 1}), 1.0);
  expect_same(sum<double>({1, test::largest, test::smallest, -test::largest, -1}), test::smallest);
  expect_same(sum<double>({1, 0x1p-53}), 1.0);  // a tie, to even
  expect_same(sum<double>({1, 0x1p-53, test::smallest}), 1 + 0x1p-52);
  expect_same(sum<double>({test::largest, test::largest}), test::infinity);
  expect_same(sum<double>({-0.0, -0.0}), 0.0);
  expect_same(sum<float>({1e38f, 3e38f, 3e38f, -1e38f}), 2.0 * double{3e38f});
  expect_same(sum<float>({0x1p-149f, 0x1p100f, -0x1p100f}), 0x1p-149);
  expect_same(sum<std::uint8_t>({1, 0, 1, 1}), int128{3});
}

TEST_P(WeightedHistogramTest, IntegerSumsPass64Bits) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::size_t count = 100'003;
  expect_same(sum(std::vector<std::int64_t>(count, least)), int128{least} * count);
  expect_same(sum(std::vector<std::uint64_t>(count, most)), int128{most} * count);
  expect_same(sum(std::vector<std::int32_t>(count, -7)), int128{-7} * count);
  std::vector<std::int64_t> cancelling(count, least);
  for (std::size_t i = 0; i < count; i += 2) cancelling[i] = -1 - least;
  expect_same(sum(cancelling), int128{-1 - least} * (count / 2 + 1) + int128{least} * (count / 2));
}

TEST_P(WeightedHistogramTest, SumsWithoutAFiniteValue) {
  expect_same(sum<double>({1, test::infinity, 2}), test::infinity);
  expect_same(sum<double>({1, -test::infinity, -test::infinity}), -test::infinity);
  expect_same(sum<double>({test::infinity, -test::infinity}), test::nan);
  expect_same(sum<float>({test::float_nan, 1}), test::nan);
  expect_same(sum<float>({test::float_infinity, test::float_nan}), test::nan);
  expect_same(sum<double>({test::largest, test::largest, -test::infinity}), -test::infinity);
}

TEST_P(WeightedHistogramTest, ConstantAndWideWeights) {
  const std::size_t count = 70'001;
  const std::vector<double> values(count, 0.5);
  const HistogramOptions options{.bins = 300, .range = {{0, 1}}};  // too many for shared memory
  const binning::Bins bins = binning::make_bins(options, *options.range, ErrorKind::usage);
  std::vector<double> weights(count, 0.1);
  const Source x = source_of("x", values);
  expect_equal(add(x, source_of("w", weights), options), add_one_by_one(values, weights, bins));
  std::mt19937_64 random(5);
  for (double& weight : weights) {
    weight = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 2030) - 1100);
  }
  expect_equal(add(x, source_of("w", weights), options), add_one_by_one(values, weights, bins));
}

TEST_P(WeightedHistogramTest, DivisionsMakeNoDifference) {
  const auto values = random_weights<float>(300'000, 1);
  const auto weights = finite_weights<double>(300'000, 2);
  const Source x = source_of("x", values), w = source_of("w", weights);
  Coordinator one = coordinator(65536, 1);
  const WeightedHistogram expected = weighted_histogram(one, x, w).value;
  for (const std::size_t streams : {1u, 2u, 5u}) {
    Coordinator machine = coordinator(4 << 20, streams);
    expect_equal(weighted_histogram(machine, x, w).value, expected);
  }
}

TEST_P(WeightedHistogramTest, RanksMakeNoDifference) {
  const auto values = random_weights<float>(300'000, 1);
  const auto weights = finite_weights<float>(300'000, 2);
  const Source x = source_of("x", values), w = source_of("w", weights);
  Coordinator one = coordinator();
  const WeightedHistogram expected = weighted_histogram(one, x, w).value;
  const auto errors = test::LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator machine(make_device(GetParam()), {.chunk_bytes = 65536, .ranks = &ranks});
    expect_equal(weighted_histogram(machine, x, w).value, expected);
  });
  for (const auto& error : errors) EXPECT_EQ(error, nullptr) << test::described(error).second;
}

TEST_P(WeightedHistogramTest, TakesFieldsAsSources) {
  const auto values = random_weights<double>(20'000, 5);
  const auto weights = random_weights<std::int16_t>(values.size(), 6);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto weight = std::bit_cast<std::array<std::byte, 2>>(weights[i]);
    const auto value = std::bit_cast<std::array<std::byte, 8>>(values[i]);
    bytes.insert(bytes.end(), weight.begin(), weight.end());
    bytes.insert(bytes.end(), value.rbegin(), value.rend());
    bytes.insert(bytes.end(), 3, std::byte{0xff});
  }
  test::write_file(dir_.path() / "structs", bytes);
  DType type;
  type.fields = {{.name = "w", .element = ElementType::i2, .offset = 0},
                 {.name = "x", .element = ElementType::f8, .swapped = true, .offset = 2}};
  type.struct_bytes = 13;
  const Source structs = open(dir_.path() / "structs", {.type = type});
  const Source x = field(structs, "x"), w = field(structs, "w");
  const HistogramOptions options{.bins = 10, .range = {{0, 100}}};
  const binning::Bins bins = binning::make_bins(options, *options.range, ErrorKind::usage);
  expect_equal(add(x, w, options), add_one_by_one(values, weights, bins));
  expect_equal(add(x, source_of("w", weights), options), add_one_by_one(values, weights, bins));
}

TEST_P(WeightedHistogramTest, ASourceMayBeItsOwnWeights) {
  const auto values = finite_weights<float>(10'000, 3);
  const Source x = source_of("x", values);
  const HistogramOptions options{.bins = 10, .range = {{0, 100}}};
  const binning::Bins bins = binning::make_bins(options, *options.range, ErrorKind::usage);
  expect_equal(add(x, x, options), add_one_by_one(values, values, bins));
}

TEST_P(WeightedHistogramTest, GoesOnWhereItWasInterrupted) {
  const Source x = source_of("x", random_weights<float>(400'000, 1));
  const Source w = source_of("w", random_weights<double>(400'000, 2));
  const WeightedHistogram whole = add(x, w, {});
  const Checkpoint checkpoint{.file = dir_.path() / "part", .every_seconds = 0};
  Coordinator machine = coordinator();
  for (const double share : {0.4, 0.8}) {  // in the first pass, then in the second
    std::stop_source stop;
    int passes = share < 0.5 ? 0 : 1;
    std::uint64_t before = 0;
    PassOptions wanted{.stop = stop.get_token(), .checkpoint = checkpoint};
    wanted.progress = [&](const Progress& progress) {
      if (progress.bytes < before) --passes;
      before = progress.bytes;
      if (passes <= 0 && progress.bytes > progress.total_bytes / 2) stop.request_stop();
    };
    test::expect_error(ErrorKind::interrupted, "part",
                       [&] { (void)weighted_histogram(machine, x, w, {}, wanted); });
  }
  const auto [found, stats] = weighted_histogram(machine, x, w, {}, {.checkpoint = checkpoint});
  expect_equal(found, whole);
  EXPECT_GT(stats.outcome.resumed_bytes, 0u);
}

TEST_P(WeightedHistogramTest, SeesThatTheValuesHaveChanged) {
  const std::vector<float> weights(300'000, 1);
  const Source w = source_of("w", weights);
  const auto refuses_with = [&](float changed) {
    const Source x = source_of("x", std::vector<float>(weights.size(), 1));
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
                       [&] { (void)weighted_histogram(machine, x, w, {}, wanted); });
  };
  refuses_with(1e9f);
  refuses_with(test::float_nan);
}

TEST_P(WeightedHistogramTest, OfNoValuesAndOfOne) {
  const Source none = source_of("none", std::vector<float>{});
  const Source no_weights = source_of("weights", std::vector<std::int32_t>{});
  const HistogramOptions bins{.bins = 2, .range = {{0, 1}}};
  const WeightedHistogram given = add(none, no_weights, bins);
  EXPECT_EQ(given.histogram.counts, (std::vector<std::uint64_t>{0, 0}));
  ASSERT_EQ(given.sums.size(), 2u);
  expect_same(given.sums[1], int128{0});
  expect_same(add(none, none, bins).sums[1], 0.0);
  const WeightedHistogram found = add(none, no_weights, {});
  EXPECT_TRUE(found.sums.empty() && found.histogram.edges.empty());
  expect_same(found.sum_nan, int128{0});
  const Source byte = source_of("byte", std::vector<std::uint8_t>{});
  EXPECT_TRUE(add(byte, none, {}).sums.empty());

  const Source one = source_of("one", std::vector<float>{3});
  const WeightedHistogram of_one = add(one, source_of("w", std::vector<float>{-2.5f}), {.bins = 1});
  expect_same(of_one.sums.at(0), -2.5);
}

TEST_P(WeightedHistogramTest, RefusesWhatHasNoWeights) {
  const Source four = source_of("four", std::vector<float>{1, 2, 3, 4});
  const Source three = source_of("three", std::vector<float>{1, 2, 3});
  const auto refuses = [&](ErrorKind kind, const std::string& what, const Source& weights,
                           const HistogramOptions& options) {
    Coordinator machine = coordinator();
    test::expect_error(kind, what,
                       [&] { (void)weighted_histogram(machine, four, weights, options); });
    test::expect_error(kind, what, [&] {
      (void)dry_run_weighted_histogram({}, DeviceKind::cpu, four, weights, options);
    });
  };
  refuses(ErrorKind::bad_input, "4 records", three, {});
  refuses(ErrorKind::usage, "is for values without weights", four, {.bins = BinRule::sturges});
  refuses(ErrorKind::usage, "65537 bins with weights", four, {.bins = 65537});
  refuses(ErrorKind::usage, "65537 bins with weights", four,
          {.edges = std::vector<double>(65538, 1)});
  EXPECT_NO_THROW((void)add(four, four, {.bins = max_weighted_bins, .range = {{0, 5}}}));
  const Source no_numbers = source_of("nan", std::vector<float>(4, test::float_nan));
  Coordinator machine = coordinator();
  test::expect_error(ErrorKind::bad_input, "no finite value",
                     [&] { (void)weighted_histogram(machine, no_numbers, four); });
}

TEST_P(WeightedHistogramTest, KeepsTheMemoryLimit) {
  const Source x = source_of("x", std::vector<float>(1000, 1));
  const HistogramOptions options{.bins = max_weighted_bins, .range = {{0, 5}}};
  const Source w = source_of("w", std::vector<double>(1000, 1));
  Coordinator small(make_device(GetParam()), {.memory_bytes = std::size_t{40} << 20});
  test::expect_error(ErrorKind::memory, "",
                     [&] { (void)weighted_histogram(small, x, w, options); });
}

TEST_P(WeightedHistogramTest, TheCheckFindsDifferences) {
  const Source x = source_of("x", random_weights<float>(1000, 1));
  const Source w = source_of("w", finite_weights<float>(1000, 2));
  const HistogramOptions options{.bins = 8, .range = {{0, 100}}};
  Coordinator machine = coordinator();
  const WeightedHistogram found = weighted_histogram(machine, x, w, options).value;
  const auto refuses = [&](const std::string& what, const auto& change) {
    WeightedHistogram wrong = found;
    change(wrong);
    test::expect_error(ErrorKind::verify, what,
                       [&] { verify_weighted_histogram(machine, x, w, options, wrong); });
  };
  refuses("sums[2]", [](WeightedHistogram& wrong) {
    wrong.sums[2] = std::nextafter(wrong.sums[2].value(), 0);
  });
  refuses("counts[7]", [](WeightedHistogram& wrong) { ++wrong.histogram.counts[7]; });
  refuses("sum_below", [](WeightedHistogram& wrong) { wrong.sum_below = 0.0; });
  refuses("sum_above", [](WeightedHistogram& wrong) { wrong.sum_above = int128{1}; });
  refuses("sum_nan", [](WeightedHistogram& wrong) { wrong.sum_nan = -1.0; });
  refuses("nan", [](WeightedHistogram& wrong) { ++wrong.histogram.nan; });
  refuses("edges[3]", [](WeightedHistogram& wrong) { wrong.histogram.edges[3] += 1e-9; });
  refuses("the number of sums", [](WeightedHistogram& wrong) { wrong.sums.pop_back(); });
}

}  // namespace
}  // namespace ooc::detail
