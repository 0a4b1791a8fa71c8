#include <ooc/quantile.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/merge_parts.hpp"
#include "support/ordered_values.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

// Quantiles against plain sorting. Those of all methods are compared with NumPy's by
// tests/cli/quantile_test.py.

namespace ooc::detail {
namespace {

using test::comes_before;
using test::expect_element;
using test::expect_error;
using test::infinity;
using test::numbers;

class QuantileTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Result<Quantiles> find(const Source& source, const QuantileOptions& options,
                         Options run = {.chunk_bytes = 64 * KiB, .streams = 3},
                         const PassOptions& wanted = {}) {
    Coordinator coordinator(make_device(GetParam()), std::move(run));
    return quantile(coordinator, source, options, wanted);
  }

  /// Expects all elements of the data at some ranks, and that the check agrees.
  template <class T>
  void expect_sorted(std::vector<T> values, const QuantileOptions& options) {
    const Source source = source_of(values);
    const Quantiles found = find(source, options).value;
    std::erase_if(values, [](T value) { return to_double(value) != to_double(value); });
    EXPECT_EQ(found.count, source.elements());
    EXPECT_EQ(found.nan, source.elements() - values.size());
    std::ranges::sort(values, comes_before<T>);
    ASSERT_EQ(found.quantiles.size(), options.q.size());
    for (std::size_t i = 0; i < options.q.size(); ++i) {
      const double place = static_cast<double>(values.size() - 1) * options.q[i];
      EXPECT_EQ(found.quantiles[i].q, options.q[i]);
      expect_element(found.quantiles[i].lower, values[static_cast<std::size_t>(place)]);
      const bool is_between = options.method == QuantileMethod::linear;
      const auto upper =
          std::min(static_cast<std::size_t>(place) + (is_between ? 1 : 0), values.size() - 1);
      expect_element(found.quantiles[i].upper, values[upper]);
    }
    Coordinator coordinator(make_device(DeviceKind::cpu));
    verify_quantile(coordinator, source, options, found);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, QuantileTest, test::all_devices, test::device_name);

/// Quantiles in an order of their own, some of them twice.
const QuantileOptions some{.q = {0.5, 0, 1, 0.25, 0.999, 0.5, 0.001},
                           .method = QuantileMethod::lower,
                           .nan = NanPolicy::omit};

TEST_P(QuantileTest, OfEveryTypeAndPatternAreThoseOfSortedValues) {
  constexpr std::size_t count = 30'001;
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(std::string(name_of(type)));
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_sorted(test::random_bits<T>(count), some);  // of floats with NaN payloads, -0
      expect_sorted(test::varied_values<T>(count), some);
      expect_sorted(numbers<T>(count, [](std::size_t) { return 7; }), some);
      expect_sorted(numbers<T>(count, [](std::size_t i) { return double(i % 100); }), some);
      expect_sorted(numbers<T>(126, [](std::size_t i) { return double(i); }), some);
      expect_sorted(numbers<T>(126, [](std::size_t i) { return double(126 - i); }), some);
      expect_sorted(numbers<T>(1, [](std::size_t) { return 3; }), some);
      expect_sorted(numbers<T>(2, [](std::size_t i) { return double(i); }), some);
    });
  }
}

TEST_P(QuantileTest, OfSpecialValues) {
  const std::vector<double> values{0.0,        -0.0,          infinity, -infinity, test::nan,
                                   -test::nan, 0.0,           -0.0,     1e300,     -1e-320,
                                   1,          test::largest, -1,       -0.0};
  QuantileOptions all = some;
  all.q.clear();
  for (int i = 0; i <= 40; ++i) all.q.push_back(i / 40.0);
  expect_sorted(values, all);
  expect_sorted(std::vector<float>(values.begin(), values.end()), all);
  all.method = QuantileMethod::linear;
  expect_sorted(values, all);
}

TEST_P(QuantileTest, OfIntegersKeepAllDigits) {
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  const auto top = find(source_of(std::vector<std::uint64_t>{3, large, large + 2}), some).value;
  EXPECT_EQ(to_string(top.quantiles[0].value), std::to_string(large));
  EXPECT_EQ(to_string(top.quantiles[2].value), std::to_string(large + 2));
  const std::int64_t low = -(std::int64_t{1} << 62) - 1;
  const auto bottom = find(source_of(std::vector<std::int64_t>{low + 1, low, 5}), some).value;
  EXPECT_EQ(to_string(bottom.quantiles[1].value), std::to_string(low));
}

TEST_P(QuantileTest, AThousandAtOnceTakeMorePasses) {
  QuantileOptions many{.q = {}, .nan = NanPolicy::omit};
  for (int i = 0; i < 1000; ++i) many.q.push_back(i / 999.0);
  EXPECT_EQ(quantile_passes(ElementType::f4, many), 3u);
  EXPECT_EQ(quantile_passes(ElementType::f8, many), 6u);
  expect_sorted(test::varied_values<float>(50'000), many);
  expect_sorted(test::varied_values<double>(50'000), many);
  many.q.push_back(0.5);
  const Source source = source_of(std::vector<float>{1});
  expect_error(ErrorKind::usage, "1001 quantiles", [&] { find(source, many); });
}

TEST_P(QuantileTest, TakesAsFewPassesAsTheTypeAllows) {
  const auto passes_for = [&]<class T>(const std::vector<T>& values) {
    const Source source = source_of(values);
    const auto [found, stats] = find(source, {});
    EXPECT_EQ(stats.outcome.passes, quantile_passes(source.element()));
    EXPECT_EQ(stats.outcome.records, values.size());
    return stats.outcome.passes;
  };
  EXPECT_EQ(passes_for(std::vector<std::int8_t>(9, 1)), 1u);
  EXPECT_EQ(passes_for(numbers<BFloat16>(9, [](std::size_t i) { return double(i); })), 1u);
  EXPECT_EQ(passes_for(std::vector<float>(9, 1)), 2u);
  EXPECT_EQ(passes_for(std::vector<double>(9, 1)), 4u);
}

TEST_P(QuantileTest, OneNanMakesAllNanAndEndsTheSearch) {
  std::vector<double> values(1000, 1);
  values[500] = test::nan;
  const auto [found, stats] = find(source_of(values), {});
  EXPECT_EQ(stats.outcome.passes, 1u);
  EXPECT_EQ(found.nan, 1u);
  for (const Quantile& each : found.quantiles) EXPECT_TRUE(std::isnan(each.value.value()));
}

TEST_P(QuantileTest, NoValuesHaveNone) {
  const auto expect_none = [&](const Source& source, std::uint64_t nan) {
    const Quantiles found = find(source, some).value;
    EXPECT_EQ(found.nan, nan);
    ASSERT_EQ(found.quantiles.size(), some.q.size());
    for (const Quantile& each : found.quantiles) EXPECT_FALSE(each.value.has_value());
    Coordinator coordinator(make_device(DeviceKind::cpu));
    verify_quantile(coordinator, source, some, found);
  };
  expect_none(source_of(std::vector<float>{}), 0);
  expect_none(source_of(std::vector<std::uint64_t>{}), 0);
  expect_none(source_of(std::vector<double>(3, test::nan)), 3);
}

TEST_P(QuantileTest, RefusesWhatIsNoQuantile) {
  const Source source = source_of(std::vector<float>{1});
  for (const double q : {-0.1, 1.5, test::nan}) {
    expect_error(ErrorKind::usage, "between 0 and 1", [&] { find(source, {.q = {0.5, q}}); });
  }
  expect_error(ErrorKind::usage, "0 quantiles", [&] { find(source, {.q = {}}); });
}

TEST_P(QuantileTest, OfSectionsInRoundsAreThoseOfTheWhole) {
  std::mt19937_64 random(3);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const auto expect_same = [&](const Source& source) {
    const Quantiles expected = quantile(coordinator, source, some).value;
    for (const std::uint64_t sections : {1, 3, 40}) {  // of 40, some are empty
      QuantileSearch search(source.element(), some);
      while (!search.is_complete()) {
        std::vector<PartialResult<QuantileCounts>> parts;
        for (std::uint64_t i = 0; i < sections; ++i) {
          const Source section = shard(source, i, sections, tile_elements);
          parts.push_back(search.load(search.collect(coordinator, section).value.save()));
        }
        search.take(test::merge_parts(std::move(parts), random));
      }
      const Quantiles found = search.result();
      EXPECT_EQ(found.nan, expected.nan);
      for (std::size_t i = 0; i < some.q.size(); ++i) {
        EXPECT_EQ(to_string(found.quantiles[i].value), to_string(expected.quantiles[i].value));
      }
    }
  };
  expect_same(source_of(test::varied_values<float>(9 * tile_elements + 77)));
  expect_same(source_of(test::varied_values<std::int16_t>(3 * tile_elements + 1)));
}

TEST_P(QuantileTest, StatisticsShareTheFirstPass) {
  const Source source = source_of(test::varied_values<float>(5 * tile_elements + 3));
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const ReduceOptions omit{.nan = NanPolicy::omit};
  const auto [both, stats] = reduce_with_quantiles(coordinator, source, omit, some);
  const auto& [statistics, quantiles] = both;
  EXPECT_EQ(stats.outcome.passes, quantile_passes(source.element(), some));
  const Statistics expected = reduce(coordinator, source, omit).value;
  EXPECT_EQ(test::bits_of(statistics.mean.value()), test::bits_of(expected.mean.value()));
  EXPECT_EQ(quantiles.nan, expected.nan);
  EXPECT_EQ(to_string(quantiles.quantiles[1].value), to_string(expected.min));
  EXPECT_EQ(to_string(quantiles.quantiles[2].value), to_string(expected.max));
}

/// Options that call `action` before the second pass.
Options before_second_pass(std::function<void()> action) {
  Options options{.chunk_bytes = 64 * KiB, .streams = 1, .threads = 1};
  options.make_engine = [action = std::move(action),
                         passes = 0](const EngineOptions& wanted) mutable {
    if (++passes == 2) action();
    return make_engine(wanted);
  };
  return options;
}

TEST_P(QuantileTest, GoesOnInThePassThatWasStopped) {
  const Source source = source_of(test::varied_values<float>(5 * tile_elements));
  const Quantiles expected = find(source, some).value;
  const test::TempDir dir;
  std::stop_source stop;
  PassOptions wanted{.stop = stop.get_token()};
  wanted.checkpoint = {.file = dir.path() / "state"};
  EXPECT_THROW(find(source, some, before_second_pass([&] { stop.request_stop(); }), wanted), Error);
  wanted.stop = {};
  const auto [found, stats] = find(source, some, {}, wanted);
  EXPECT_GE(stats.outcome.resumed_bytes, source.bytes());
  for (std::size_t i = 0; i < some.q.size(); ++i) {
    EXPECT_EQ(to_string(found.quantiles[i].value), to_string(expected.quantiles[i].value));
  }
}

TEST_P(QuantileTest, AStoppedRunHasNone) {
  const Source source = source_of(test::varied_values<float>(5 * tile_elements));
  std::stop_source stop;
  stop.request_stop();
  const PassOptions wanted{.stop = stop.get_token(), .keep_partial = true};
  const auto [found, stats] = find(source, some, {}, wanted);
  EXPECT_TRUE(found.quantiles.empty());
  EXPECT_TRUE(stats.outcome.partial);
}

TEST_P(QuantileTest, NoticesCountsOfOtherData) {
  QuantileSearch search(ElementType::f4, {.q = {0.5}, .method = QuantileMethod::lower});
  Coordinator coordinator(make_device(GetParam()));
  const auto counts_of = [&](const std::vector<float>& values) {
    return search.collect(coordinator, source_of(values)).value.result();
  };
  search.take(counts_of({1, 2, 3}));
  const auto expect_changed = [&](const std::vector<float>& values) {
    expect_error(ErrorKind::input_changed, "the input changed",
                 [&] { search.take(counts_of(values)); });
  };
  expect_error(ErrorKind::usage, "not of the next pass", [&] { search.take({{1, 2}, 0, 3}); });
  expect_changed({1, 2, 3, 4});
  expect_changed({1, 3, 3});
  expect_changed({2, 2, 2});
  expect_changed({1, 2, float(test::nan)});
  search.take(counts_of({5, 2, 0}));  // the median is still 2
  EXPECT_EQ(to_string(search.result().quantiles.front().value), "2");
}

}  // namespace
}  // namespace ooc::detail
