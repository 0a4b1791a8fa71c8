// Tests parts of histograms with weights: merged in any order, they give those of the whole.

#include <ooc/error.hpp>
#include <ooc/weighted_histogram.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "kernels/weighted_histogram/one_by_one.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/saved_parts.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Bytes;
using test::expect_equal;
using test::expect_refused;
using test::finite_weights;
using test::random_weights;
using test::with_value;

class WeightPartsTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    own_.emplace(make_device(GetParam()), Options{.chunk_bytes = 131072, .streams = 2});
  }

  Coordinator& machine() { return *own_; }

  template <class T>
  Source source_of(const std::string& name, const std::vector<T>& values) {
    test::write_file(dir_.path() / name, values);
    return open(dir_.path() / name, {.type = DType{element_type_of<T>()}});
  }

  /// Expects that parts give the sums of the whole, for any number of them.
  void expect_whole(const Source& values, const Source& weights, const HistogramOptions& options) {
    const auto expected = weighted_histogram(machine(), values, weights, options).value;
    const auto load = [&](const Bytes& saved) {
      return load_weighted_histogram(values.element(), weights.element(), options, saved);
    };
    for (const std::uint64_t count : {1, 2, 3, 7, 20}) {  // of 20, some are empty
      SCOPED_TRACE(count);
      std::vector<Bytes> saved;
      std::vector<PartialResult<WeightedHistogram>> parts;
      for (std::uint64_t i = 0; i < count; ++i) {
        const Source x = shard(values, i, count);
        std::optional<Source> other;
        if (&values != &weights) other = shard(weights, i, count);
        const Source& w = other ? *other : x;
        auto part = collect_weighted_histogram(machine(), x, w, options).value;
        saved.push_back(part.save());
        // Parts that were not saved merge with those that were.
        parts.push_back(i % 2 == 0 ? std::move(part) : load(saved.back()));
      }
      expect_equal(test::merge_parts(std::move(parts), random_), expected);
      for (int order = 0; order < 3; ++order) {
        expect_equal(test::merge_saved(saved, load, random_), expected);
      }
    }
  }

  inline static const HistogramOptions even{.bins = 37, .range = {{0, 90}}};
  inline static const HistogramOptions listed{.edges = {-5, 0, 0, 3, 50, 1e9}};

  test::TempDir dir_;
  std::optional<Coordinator> own_;
  std::mt19937_64 random_{3};
};

INSTANTIATE_TEST_SUITE_P(Devices, WeightPartsTest, test::all_devices, test::device_name);

TEST_P(WeightPartsTest, GiveTheWhole) {
  const std::size_t count = 5 * tile_elements + 77;
  const auto expect_types = [&]<class X, class W>(std::type_identity<X>, std::type_identity<W>) {
    const Source x = source_of("x", random_weights<X>(count, 1));
    expect_whole(x, source_of("w", random_weights<W>(count, 2)), listed);
    expect_whole(x, source_of("w", finite_weights<W>(count, 2)), even);
  };
  expect_types(std::type_identity<float>{}, std::type_identity<double>{});
  expect_types(std::type_identity<std::uint8_t>{}, std::type_identity<float>{});
  expect_types(std::type_identity<BFloat16>{}, std::type_identity<std::int64_t>{});
  expect_types(std::type_identity<double>{}, std::type_identity<std::uint16_t>{});
}

TEST_P(WeightPartsTest, OfFieldsAndOfOneSourceGiveTheWhole) {
  const std::size_t count = 3 * tile_elements + 5;
  std::vector<std::byte> bytes;
  for (const auto value : random_weights<float>(count, 5)) {
    const auto in_bytes = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), in_bytes.rbegin(), in_bytes.rend());
    bytes.insert(bytes.end(), {std::byte{0xff}, in_bytes[0], in_bytes[1]});
  }
  test::write_file(dir_.path() / "structs", bytes);
  DType type;
  type.fields = {{.name = "x", .element = ElementType::f4, .swapped = true, .offset = 0},
                 {.name = "w", .element = ElementType::i2, .offset = 5}};
  type.struct_bytes = 7;
  const Source structs = open(dir_.path() / "structs", {.type = type});
  const Source x = field(structs, "x"), w = field(structs, "w");
  expect_whole(x, w, even);
  expect_whole(x, source_of("w", random_weights<double>(count, 6)), even);
  expect_whole(x, x, even);
}

TEST_P(WeightPartsTest, OfNoValuesGiveTheWhole) {
  expect_whole(source_of("x", std::vector<float>{}), source_of("w", std::vector<double>{}), even);
}

TEST_P(WeightPartsTest, TakeTheBinsOfTheValues) {
  const std::size_t count = 3 * tile_elements + 5;
  const Source x = source_of("x", random_weights<float>(count, 1));
  const Source w = source_of("w", random_weights<std::int32_t>(count, 2));
  const HistogramOptions options{.bins = 20};
  auto bins = collect_bins(machine(), shard(x, 1, 2), options).value;
  bins.merge(collect_bins(machine(), shard(x, 0, 2), options).value);
  const ChosenBins chosen = std::move(bins).result();
  auto all = collect_weighted_histogram(machine(), shard(x, 0, 2), shard(w, 0, 2), chosen.options);
  all.value.merge(
      collect_weighted_histogram(machine(), shard(x, 1, 2), shard(w, 1, 2), chosen.options).value);
  const WeightedHistogram found = std::move(all.value).result();
  expect_equal(found, weighted_histogram(machine(), x, w, options).value);
  require_unchanged(chosen, found.histogram);
}

TEST_P(WeightPartsTest, NeedBinsThatAreKnown) {
  const Source x = source_of("x", std::vector<float>{1, 2, 3});
  const auto refuses = [&](const std::string& what, const HistogramOptions& options) {
    test::expect_error(ErrorKind::usage, what,
                       [&] { (void)collect_weighted_histogram(machine(), x, x, options); });
    test::expect_error(ErrorKind::usage, what, [&] {
      (void)load_weighted_histogram(ElementType::f4, ElementType::f4, options, {});
    });
  };
  refuses("takes the range", {.bins = 4});
  refuses("without weights", {.bins = BinRule::sqrt});
  refuses("65537 bins", {.bins = max_weighted_bins + 1, .range = {{0, 1}}});
  const Source bytes = source_of("bytes", std::vector<std::uint8_t>{7});
  EXPECT_EQ(collect_weighted_histogram(machine(), bytes, bytes, {}).value.result().sums.size(),
            256u);  // their range is that of the type
}

TEST_P(WeightPartsTest, OfOtherSectionsOrBinsAreRefused) {
  const Source x = source_of("x", random_weights<float>(4 * tile_elements, 1));
  const Source w = source_of("w", random_weights<std::int16_t>(4 * tile_elements, 2));
  EXPECT_THROW((void)collect_weighted_histogram(machine(), shard(x, 0, 2), shard(w, 1, 2), even),
               Error);
  test::expect_error(ErrorKind::usage, "whole partitions", [&] {
    (void)collect_weighted_histogram(machine(), section(x, 0, 100), section(w, 0, 100), even);
  });
  const Bytes saved =
      collect_weighted_histogram(machine(), shard(x, 0, 2), shard(w, 0, 2), even).value.save();
  const auto refuses = [&](ElementType type, ElementType of_weights,
                           const HistogramOptions& options) {
    expect_refused(ErrorKind::usage, saved, [&](const Bytes& bytes) {
      return load_weighted_histogram(type, of_weights, options, bytes);
    });
  };
  refuses(ElementType::i2, ElementType::f4, even);
  refuses(ElementType::f4, ElementType::i4, even);
  refuses(ElementType::f4, ElementType::i2, {.bins = 37, .range = {{0, 91}}});
  auto part = load_weighted_histogram(ElementType::f4, ElementType::i2, even, saved);
  EXPECT_THROW((void)std::move(part).result(), Error);  // records are missing
}

/// The findings of 100 weights of 0.5 in one of two bins.
class SavedWeightsTest : public WeightPartsTest {
 protected:
  /// Returns a saved part of 100 values of 1.
  Bytes saved_part() {
    const Source x = source_of("x", std::vector<float>(100, 1));
    const Source w = source_of("w", std::vector<float>(100, 0.5f));
    return collect_weighted_histogram(machine(), x, w, two_bins).value.save();
  }
  static PartialResult<WeightedHistogram> load(const Bytes& saved) {
    return load_weighted_histogram(ElementType::f4, ElementType::f4, two_bins, saved);
  }
  static void refuses(const Bytes& saved) { expect_refused(ErrorKind::bad_input, saved, load); }

  inline static const HistogramOptions two_bins{.edges = {0, 0.5, 2}};
  // A number of values; a count for each of the bins, below, above, and NaN; then sums of so many
  // limbs; then what is not finite.
  static constexpr std::size_t counters = 5, limbs = 11, number = sizeof(std::uint64_t);
  static constexpr std::size_t counts_place = number, sums_place = counts_place + counters * number,
                               kinds_place = sums_place + counters * limbs * number;
};

INSTANTIATE_TEST_SUITE_P(Devices, SavedWeightsTest, test::all_devices, test::device_name);

TEST_P(SavedWeightsTest, ThatAreDamagedAreRefused) {
  const Bytes saved = saved_part();
  const WeightedHistogram found = load(saved).result();
  EXPECT_EQ(found.histogram.counts, (std::vector<std::uint64_t>{0, 100}));
  test::expect_same(found.sums.at(1), 50.0);
  test::expect_whole_only(saved, load);
  test::expect_all_bits_count(saved, 0, sums_place, load);
  test::expect_all_bits_count(saved, sums_place, limbs * number, load);  // no values have no sum
}

TEST_P(SavedWeightsTest, ThatNoWeightsHaveAreRefused) {
  const Bytes saved = saved_part();
  const std::size_t findings = test::place_of_findings(saved);
  const std::size_t second_sum = findings + sums_place + limbs * number;
  refuses(with_value(saved, second_sum, std::int64_t{1} << 32));
  refuses(with_value(saved, second_sum, std::int64_t{-1}));
  const std::size_t highest = second_sum + (limbs - 1) * number;
  (void)load(with_value(saved, highest, std::int64_t{99}));
  refuses(with_value(saved, highest, std::int64_t{100}));
  (void)load(with_value(saved, highest, std::int64_t{-100}));
  refuses(with_value(saved, highest, std::int64_t{-101}));
  const std::size_t kinds = findings + kinds_place;
  (void)load(with_value(saved, kinds + sizeof(std::uint32_t), std::uint32_t{7}));
  refuses(with_value(saved, kinds + sizeof(std::uint32_t), std::uint32_t{8}));
  refuses(with_value(saved, kinds, std::uint32_t{1}));  // of no values
}

/// Forged parts of data that no machine has do not overflow a sum.
TEST_P(SavedWeightsTest, OfTooManyWeightsAreRefused) {
  const Bytes saved = saved_part();
  const std::size_t findings = test::place_of_findings(saved);
  const std::size_t range_place = findings - 3 * number, records_place = range_place - 3 * number;
  const std::uint64_t most = std::uint64_t{1} << 60, records = 2 * most;
  const auto forged = [&](const RecordRange& range) {
    Bytes bytes = with_value(with_value(saved, records_place, records), range_place, range);
    bytes = with_value(std::move(bytes), findings, range.count);
    return with_value(std::move(bytes), findings + counts_place + number, range.count);
  };
  auto first = load(forged({0, most}));
  EXPECT_EQ(first.covers().front().count, most);
  test::expect_error(ErrorKind::bad_input, "more weights than data have", [&] {
    first.merge(load(forged({most, most})));
  });
  refuses(forged({0, 2 * most}));
}

TEST_P(WeightPartsTest, GoOnWhereTheyWereStopped) {
  const Source x = source_of("x", random_weights<float>(16 * tile_elements, 1));
  const Source w = source_of("w", random_weights<double>(16 * tile_elements, 2));
  const Source values = shard(x, 1, 2), weights = shard(w, 1, 2);
  const Bytes whole = collect_weighted_histogram(machine(), values, weights, even).value.save();
  const Checkpoint checkpoint{.file = dir_.path() / "part", .every_seconds = 0};
  std::stop_source stop;
  PassOptions wanted{.stop = stop.get_token(), .checkpoint = checkpoint};
  wanted.progress = [&](const Progress& progress) {
    if (progress.bytes > progress.total_bytes / 2) stop.request_stop();
  };
  test::expect_error(ErrorKind::interrupted, "part", [&] {
    (void)collect_weighted_histogram(machine(), values, weights, even, wanted);
  });
  const auto [found, stats] =
      collect_weighted_histogram(machine(), values, weights, even, {.checkpoint = checkpoint});
  EXPECT_EQ(found.save(), whole);
  EXPECT_GT(stats.outcome.resumed_bytes, 0u);
}

}  // namespace
}  // namespace ooc::detail
