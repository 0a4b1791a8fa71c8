#include <ooc/top.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
#include "support/effort.hpp"
#include "support/merge_parts.hpp"
#include "support/ordered_values.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"
#include "top/finder.hpp"

// The largest and smallest values against a plain stable sort.

namespace ooc::detail {
namespace {

using test::comes_before;
using test::expect_element;
using test::expect_error;
using test::infinity;
using test::numbers;

/// Returns the indices of the best values that are not NaN, the best one first.
template <class T>
std::vector<std::uint64_t> sorted_indices(const std::vector<T>& values, const TopOptions& options) {
  std::vector<std::uint64_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = to_double(values[i]);
    if (value == value) indices.push_back(i);
  }
  std::ranges::stable_sort(indices, [&](std::uint64_t a, std::uint64_t b) {
    return options.smallest ? comes_before(values[a], values[b])
                            : comes_before(values[b], values[a]);
  });
  indices.resize(std::min<std::uint64_t>(indices.size(), options.k));
  return indices;
}

/// Expects the best values, and that all elements are counted.
template <class T>
void expect_best(const Top& found, const std::vector<T>& values, const TopOptions& options) {
  const auto is_nan = [](T value) { return to_double(value) != to_double(value); };
  EXPECT_EQ(found.count, values.size());
  EXPECT_EQ(found.nan, static_cast<std::uint64_t>(std::ranges::count_if(values, is_nan)));
  const std::vector<std::uint64_t> indices = sorted_indices(values, options);
  ASSERT_EQ(found.values.size(), indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    ASSERT_EQ(found.values[i].index, indices[i]) << "rank " << i + 1;
    expect_element(found.values[i].value, values[indices[i]]);
  }
}

class TopTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Result<Top> find(const Source& source, const TopOptions& options,
                   Options run = {.chunk_bytes = 64 * KiB, .streams = 3},
                   const PassOptions& wanted = {}) {
    Coordinator coordinator(make_device(GetParam()), std::move(run));
    return top(coordinator, source, options, wanted);
  }

  /// Expects what sorting finds, for several k and both directions, and that the check agrees.
  template <class T>
  void expect_sorted(const std::vector<T>& values) {
    const Source source = source_of(values);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 64 * KiB, .streams = 3});
    for (const bool smallest : {false, true}) {
      for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000},
                                    std::uint64_t{values.size()} + 1}) {
        SCOPED_TRACE(std::to_string(k) + (smallest ? " smallest" : " largest"));
        const TopOptions options{.k = k, .smallest = smallest};
        const Top found = top(coordinator, source, options).value;
        expect_best(found, values, options);
        verify_top(coordinator, source, options, found);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, TopTest, test::all_devices, test::device_name);

TEST_P(TopTest, OfEveryTypeAndPatternAreThoseOfSortedValues) {
  constexpr std::size_t count = test::effort(30'001, 9'001);
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(std::string(name_of(type)));
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_sorted(test::random_bits<T>(count));  // of floats with NaN payloads, -0
      expect_sorted(test::varied_values<T>(count));
      expect_sorted(numbers<T>(count, [](std::size_t) { return 7; }));
      expect_sorted(numbers<T>(count, [](std::size_t i) { return double(i % 100); }));
      expect_sorted(numbers<T>(count, [](std::size_t i) { return double(i / 240); }));
      expect_sorted(
          numbers<T>(count, [count](std::size_t i) { return double((count - i) / 240); }));
      expect_sorted(numbers<T>(126, [](std::size_t i) { return double(i); }));
      expect_sorted(numbers<T>(126, [](std::size_t i) { return double(126 - i); }));
      expect_sorted(numbers<T>(1, [](std::size_t) { return 3; }));
      expect_sorted(std::vector<T>{});
    });
  }
}

TEST_P(TopTest, OfSortedValues) {
  constexpr std::size_t count = 300'001;
  expect_sorted(numbers<float>(count, [](std::size_t i) { return double(i); }));
  expect_sorted(numbers<float>(count, [](std::size_t i) { return -double(i); }));
  expect_sorted(numbers<std::int64_t>(count, [](std::size_t i) { return double(i) - 1e5; }));
}

TEST_P(TopTest, OfSpecialValues) {
  const std::vector<double> values{0.0,        -0.0,          infinity, -infinity, test::nan,
                                   -test::nan, 0.0,           -0.0,     1e300,     -1e-320,
                                   1,          test::largest, -1,       -0.0,      infinity};
  expect_sorted(values);
  expect_sorted(std::vector<float>(values.begin(), values.end()));
  expect_sorted(std::vector<double>(1000, test::nan));
  expect_sorted(std::vector<float>(70'000, -test::float_infinity));
}

TEST_P(TopTest, OfIntegersKeepAllDigits) {
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  expect_sorted(std::vector<std::uint64_t>{3, large, 0, large + 2, ~std::uint64_t{0}});
  const std::int64_t low = -(std::int64_t{1} << 62) - 1;
  expect_sorted(std::vector<std::int64_t>{low + 1, low, 5, std::numeric_limits<std::int64_t>::min(),
                                          std::numeric_limits<std::int64_t>::max()});
}

TEST_P(TopTest, AreTheSameForAnyChunksAndStreams) {
  const std::vector<float> values = test::varied_values<float>(9 * tile_elements + 77);
  const Source source = source_of(values);
  for (const std::size_t chunk : {4 * KiB, 60 * KiB, 256 * KiB, 4 * MiB}) {
    for (const std::size_t streams : {1, 2, 5}) {
      for (const TopOptions options : {TopOptions{.k = 100}, TopOptions{.k = 9000},
                                       TopOptions{.k = 50'000, .smallest = true}}) {
        SCOPED_TRACE(std::to_string(chunk) + " bytes, " + std::to_string(streams));
        expect_best(find(source, options, {.chunk_bytes = chunk, .streams = streams}).value, values,
                    options);
      }
    }
  }
}

TEST_P(TopTest, OfTheOtherByteOrder) {
  const std::vector<float> values = test::varied_values<float>(50'000);
  std::vector<float> swapped = values;
  for (float& value : swapped) {
    value =
        test::from_bits<float>(__builtin_bswap32(static_cast<std::uint32_t>(test::bits_of(value))));
  }
  const TopOptions options{.k = 300};
  const Source source = source_of(swapped, true);
  const Top found = find(source, options).value;
  expect_best(found, values, options);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  verify_top(coordinator, source, options, found);
}

// More values than all lanes have room for, so that each cuts its candidates several times.
TEST_P(TopTest, OfAscendingValuesThatAreAllCandidates) {
  constexpr std::size_t count = 3'000'000;
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(i / 2);
  const Source source = source_of(values);
  for (const std::uint64_t k : {7, 100'000}) {
    for (const bool smallest : {false, true}) {
      const TopOptions options{.k = k, .smallest = smallest};
      expect_best(find(source, options, {.streams = 2}).value, values, options);
    }
  }
}

TEST_P(TopTest, OfSectionsAreThoseOfTheWhole) {
  std::mt19937_64 random(3);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const auto expect_same = [&]<class T>(const std::vector<T>& values, const TopOptions& options) {
    const Source source = source_of(values);
    for (const std::uint64_t sections : {1, 3, 40}) {  // of 40, some are empty
      std::vector<PartialResult<Top>> parts;
      for (std::uint64_t i = 0; i < sections; ++i) {
        const Source section = shard(source, i, sections, tile_elements);
        auto part = collect_top(coordinator, section, options).value;
        parts.push_back(load_top(source.element(), options, part.save()));
      }
      expect_best(test::merge_parts(std::move(parts), random), values, options);
    }
  };
  expect_same(test::varied_values<float>(9 * tile_elements + 77), {.k = 1000});
  expect_same(test::varied_values<std::int16_t>(3 * tile_elements + 1),
              {.k = 5 * tile_elements, .smallest = true});
}

TEST_P(TopTest, GoOnWhereTheyWereStopped) {
  const std::vector<float> values = test::varied_values<float>(5 * tile_elements);
  const Source source = source_of(values);
  const test::TempDir dir;
  const TopOptions options{.k = 50};
  PassOptions wanted{};
  wanted.checkpoint = {.file = dir.path() / "state"};
  std::stop_source stop;
  wanted.stop = stop.get_token();
  wanted.progress = [&](const Progress& progress) {
    if (progress.bytes >= source.bytes() / 2) stop.request_stop();
  };
  try {
    find(source, options, {.chunk_bytes = 64 * KiB, .streams = 1}, wanted);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  wanted.stop = {};
  wanted.progress = {};
  expect_best(find(source, options, {}, wanted).value, values, options);
}

TEST_P(TopTest, OfSeveralDevices) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_device(GetParam()));
  devices.push_back(make_device(DeviceKind::cpu));
  devices.front()->bind_to_thread();  // it has started, and takes part
  Coordinator team(std::move(devices), {.chunk_bytes = 256 * KiB});
  const std::vector<double> values = test::varied_values<double>(40 * tile_elements + 77);
  for (const TopOptions options : {TopOptions{.k = 5}, TopOptions{.k = 99'999, .smallest = true}}) {
    expect_best(top(team, source_of(values), options).value, values, options);
  }
}

TEST_P(TopTest, TheirNumberHasLimits) {
  const Source source = source_of(std::vector<float>{1});
  for (const std::uint64_t k : {std::uint64_t{0}, max_top + 1}) {
    const TopOptions options{.k = k};
    Coordinator coordinator(make_device(GetParam()));
    expect_error(ErrorKind::usage, "best values", [&] { find(source, options); });
    expect_error(ErrorKind::usage, "best values",
                 [&] { (void)collect_top(coordinator, source, options); });
    expect_error(ErrorKind::usage, "best values",
                 [&] { (void)load_top(ElementType::f4, options, {}); });
    expect_error(ErrorKind::usage, "best values",
                 [&] { (void)dry_run_top({}, GetParam(), source, options); });
  }
  EXPECT_EQ(find(source, {.k = max_top}).value.values.size(), 1u);
  EXPECT_EQ(dry_run_top({}, GetParam(), source).outcome.passes, 1u);
}

TEST_P(TopTest, PartsThatNoDataHaveAreRefused) {
  Coordinator coordinator(make_device(GetParam()));
  const TopOptions options{.k = 2};
  const auto saved =
      collect_top(coordinator, source_of(std::vector<float>{2, 3}), options).value.save();
  (void)load_top(ElementType::f4, options, saved);
  expect_error(ErrorKind::usage, "", [&] { (void)load_top(ElementType::f4, {.k = 3}, saved); });
  expect_error(ErrorKind::usage, "", [&] { (void)load_top(ElementType::u4, options, saved); });
  // At the end: the number of NaN, then rank and place of both, the best one first.
  const auto expect_refused = [&](std::size_t before_end, std::byte value) {
    auto forged = saved;
    forged[forged.size() - before_end] = value;
    expect_error(ErrorKind::bad_input, "",
                 [&] { (void)load_top(ElementType::f4, options, forged); });
  };
  expect_refused(40, std::byte{1});     // fewer values than the part has
  expect_refused(40, std::byte{3});     // more NaN than elements
  expect_refused(29, std::byte{0x7f});  // the first value is behind the second one
  expect_refused(13, std::byte{0xff});  // the rank of a NaN
}

/// Looks at values by itself, in chunks in any order, at every level of vector instructions.
TEST(TopFinder, TakesChunksInAnyOrder) {
  std::vector<float> values = test::varied_values<float>(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) {  // many of the best ones are equal
    if (i % 3 != 0) values[i] = i % 2 == 0 ? test::float_infinity : -test::float_infinity;
  }
  const auto device = make_device(DeviceKind::cpu);
  const auto stream = device->make_stream();
  std::mt19937_64 random(5);
  for (const Simd simd : supported_simd()) {
    for (const TopOptions options : {TopOptions{.k = 3}, TopOptions{.k = 700, .smallest = true}}) {
      const auto finder =
          tops::make_cpu_finder(ElementType::f4, {options.k, options.smallest}, simd);
      std::vector<std::size_t> firsts;
      constexpr std::size_t chunk = 1543;
      for (std::size_t first = 0; first < values.size(); first += chunk) firsts.push_back(first);
      std::ranges::shuffle(firsts, random);
      for (const std::size_t first : firsts) {
        const std::size_t count = std::min(chunk, values.size() - first);
        const auto bytes = std::as_bytes(std::span(values).subspan(first, count));
        finder->look(*stream, {bytes.data(), bytes.size()}, first);
      }
      tops::Kept kept = finder->finish(*stream);
      std::ranges::sort(kept.best, tops::is_better);
      std::vector<std::uint64_t> places;
      for (const tops::Candidate& each : kept.best) places.push_back(each.place);
      EXPECT_EQ(places, sorted_indices(values, options));
    }
  }
}

}  // namespace
}  // namespace ooc::detail
