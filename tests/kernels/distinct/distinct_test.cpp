#include <ooc/distinct.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distinct/find_distinct.hpp"
#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/bits.hpp"
#include "support/devices.hpp"
#include "support/merge_parts.hpp"
#include "support/ordered_values.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

// The distinct values and their counts against a plain map.

namespace ooc::detail {
namespace {

using test::expect_error;
using test::numbers;

/// A value with its count.
template <class T>
struct CountedValue {
  T value;
  std::uint64_t count;
};

template <class T>
bool is_a_nan(T value) {
  return to_double(value) != to_double(value);
}

/// Returns all distinct values, the most frequent first. A NaN is behind all values of its count.
template <class T>
std::vector<CountedValue<T>> counted(const std::vector<T>& values) {
  std::unordered_map<std::uint64_t, CountedValue<T>> found;
  for (const T value : values) {
    const std::uint64_t key = is_a_nan(value)         ? test::bits_of(test::nan)
                              : to_double(value) == 0 ? test::bits_of(0.0)
                                                      : 0;
    const bool is_special = is_floating<T> && key != 0;
    const T kept = to_double(value) == 0 ? T{} : value;
    auto& each = found[is_special ? key : test::bits_of(kept)];
    each = {kept, each.count + 1};
  }
  std::vector<CountedValue<T>> all;
  for (const auto& [key, each] : found) all.push_back(each);
  std::ranges::sort(all, [](const CountedValue<T>& one, const CountedValue<T>& other) {
    if (one.count != other.count) return one.count > other.count;
    if (is_a_nan(one.value) || is_a_nan(other.value)) return !is_a_nan(one.value);
    return test::comes_before(one.value, other.value);
  });
  return all;
}

/// Expects what a map has found.
template <class T>
void expect_counted(const Distinct& found, const std::vector<T>& values, std::uint64_t counts) {
  const std::vector<CountedValue<T>> all = counted(values);
  EXPECT_EQ(found.count, values.size());
  EXPECT_EQ(found.nan, static_cast<std::uint64_t>(std::ranges::count_if(values, is_a_nan<T>)));
  EXPECT_EQ(found.distinct, all.size());
  const auto number = static_cast<double>(all.size());
  EXPECT_NEAR(found.estimate, number, 6 * distinct_relative_error * number + 8);
  ASSERT_EQ(found.values.size(), std::min<std::uint64_t>(all.size(), counts));
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    ASSERT_EQ(found.values[i].count, all[i].count) << "rank " << i + 1;
    if (is_a_nan(all[i].value))
      EXPECT_TRUE(std::isnan(found.values[i].value.value()));
    else
      test::expect_element(found.values[i].value, all[i].value);
  }
}

class DistinctTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Result<Distinct> find(const Source& source, const DistinctOptions& options,
                        Options run = {.chunk_bytes = 64 * KiB, .streams = 3},
                        const PassOptions& wanted = {}) {
    Coordinator coordinator(make_device(GetParam()), std::move(run));
    return distinct(coordinator, source, options, wanted);
  }

  /// Expects of a bitmap what a table finds, twice.
  template <class T>
  static void expect_marked(Coordinator& coordinator, const Source& source) {
    if constexpr (sizeof(T) == 4) {
      SCOPED_TRACE("in a bitmap");
      const distincts::FindDistinct<T> find({}, {.place = distincts::Place::bitmap});
      const Distinct found = distinct(coordinator, source).value;
      for (int pass = 0; pass < 2; ++pass) {
        const Distinct marked = fold(coordinator, find, source).value;
        EXPECT_EQ(marked.distinct, found.distinct);
        EXPECT_EQ(marked.nan, found.nan);
        EXPECT_EQ(marked.count, found.count);
        EXPECT_EQ(marked.estimate, found.estimate);
      }
    }
  }

  /// Expects what a map finds, with and without counts, and that the check agrees.
  template <class T>
  void expect_found(const std::vector<T>& values) {
    const Source source = source_of(values);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 64 * KiB, .streams = 3});
    for (const std::uint64_t counts : {0, 1, 100'000}) {
      SCOPED_TRACE(std::to_string(counts) + " counts");
      const DistinctOptions options{.counts = counts};
      const Distinct found = distinct(coordinator, source, options).value;
      expect_counted(found, values, counts);
      verify_distinct(coordinator, source, options, found);
    }
    expect_marked<T>(coordinator, source);
    const DistinctOptions options{.estimate = true};
    const Distinct estimated = distinct(coordinator, source, options).value;
    EXPECT_EQ(estimated.estimate, distinct(coordinator, source).value.estimate);
    EXPECT_FALSE(estimated.distinct);
    verify_distinct(coordinator, source, options, estimated);
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, DistinctTest, test::all_devices, test::device_name);

TEST_P(DistinctTest, ValuesOfEveryTypeAndPattern) {
  constexpr std::size_t count = 30'001;
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(std::string(name_of(type)));
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_found(test::random_bits<T>(count));  // of floats with NaN payloads, -0
      expect_found(test::varied_values<T>(count));
      expect_found(numbers<T>(count, [](std::size_t) { return 7; }));
      expect_found(numbers<T>(count, [](std::size_t) { return 0; }));
      expect_found(numbers<T>(count, [](std::size_t i) { return double(i % 100); }));
      expect_found(numbers<T>(count, [](std::size_t i) { return double(i / 240); }));
      expect_found(numbers<T>(126, [](std::size_t i) { return double(126 - i); }));
      expect_found(numbers<T>(1, [](std::size_t) { return 3; }));
      expect_found(std::vector<T>{});
    });
  }
}

TEST_P(DistinctTest, ValuesThatAreAllDifferent) {
  constexpr std::size_t count = 1'000'001;
  expect_found(numbers<float>(count, [](std::size_t i) { return double(i); }));
  expect_found(test::random_bits<std::uint64_t>(count));
}

TEST_P(DistinctTest, SpecialValues) {
  using test::infinity;
  const std::vector<double> values{0.0,        -0.0, infinity, -infinity,     test::nan,
                                   -test::nan, 0.0,  -0.0,     1e300,         -1e-320,
                                   1,          -0.0, infinity, test::largest, -1};
  expect_found(values);
  expect_found(std::vector<float>(values.begin(), values.end()));
  expect_found(std::vector<double>(1000, test::nan));
  expect_found(std::vector<double>(1000, -0.0));
  expect_found(std::vector<float>(70'000, -test::float_infinity));
}

TEST_P(DistinctTest, IntegersKeepAllDigits) {
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  expect_found(std::vector<std::uint64_t>{3, large, 0, large + 2, ~std::uint64_t{0}, large});
  const std::int64_t low = -(std::int64_t{1} << 62) - 1;
  expect_found(std::vector<std::int64_t>{low + 1, low, 5, std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max(), -1});
}

TEST_P(DistinctTest, AreTheSameForAnyChunksAndStreams) {
  const std::vector<float> values = test::varied_values<float>(9 * tile_elements + 77);
  const Source source = source_of(values);
  const Distinct whole = find(source, {.counts = 5000}, {}).value;
  expect_counted(whole, values, 5000);
  for (const std::size_t chunk : {4 * KiB, 60 * KiB, 4 * MiB}) {
    for (const std::size_t streams : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(chunk) + " bytes, " + std::to_string(streams));
      const Options run{.chunk_bytes = chunk, .streams = streams};
      const Distinct found = find(source, {.counts = 5000}, run).value;
      expect_counted(found, values, 5000);
      EXPECT_EQ(test::bits_of(found.estimate), test::bits_of(whole.estimate));
    }
  }
}

TEST_P(DistinctTest, OfTheOtherByteOrder) {
  const std::vector<float> values = test::varied_values<float>(50'000);
  std::vector<float> swapped = values;
  for (float& value : swapped) {
    value =
        test::from_bits<float>(__builtin_bswap32(static_cast<std::uint32_t>(test::bits_of(value))));
  }
  const DistinctOptions options{.counts = 300};
  const Source source = source_of(swapped, true);
  const Distinct found = find(source, options).value;
  expect_counted(found, values, options.counts);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  verify_distinct(coordinator, source, options, found);
}

// A GPU gets no memory for a table of its first size, so values move to the host several times.
TEST_P(DistinctTest, InLittleDeviceMemory) {
  const std::size_t count = GetParam() == DeviceKind::cpu ? 200'000 : 3'000'000;
  const std::vector<std::uint64_t> values = test::random_bits<std::uint64_t>(count);
  for (const std::uint64_t counts : {0, 100}) {
    const Options run{.chunk_bytes = MiB, .streams = 2, .device_bytes = 40 * MiB};
    expect_counted(find(source_of(values), {.counts = counts}, run).value, values, counts);
  }
}

TEST_P(DistinctTest, TooManyForTheMemoryAreRefused) {
  const std::vector<std::uint64_t> values = test::random_bits<std::uint64_t>(500'000);
  const Source source = source_of(values);
  const Options run{.memory_bytes = 2 * MiB};
  const DistinctOptions options{.counts = 1};
  try {
    (void)find(source, options, run);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    ASSERT_EQ(error.details().remedies.size(), 2u);
    const Remedy& remedy = error.details().remedies.front();
    EXPECT_EQ(remedy.setting, "Options::memory_bytes");
    const Options enough{.memory_bytes = std::stoull(remedy.value)};
    expect_counted(find(source, options, enough).value, values, 1);
  }
  if (GetParam() == DeviceKind::cpu) {
    expect_error(ErrorKind::memory, "distinct values", [&] { find(source, {}, run); });
  } else {  // they stay in the memory of the GPU
    expect_counted(find(source, {}, run).value, values, 0);
  }
  EXPECT_NEAR(find(source, {.estimate = true}, run).value.estimate, 5e5, 3e4);
  const std::vector<std::uint64_t> few(500'000, 3);
  expect_counted(find(source_of(few), {.counts = 2}, run).value, few, 2);
}

TEST_P(DistinctTest, OfSectionsAreThoseOfTheWhole) {
  std::mt19937_64 random(3);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const auto expect_same = [&]<class T>(const std::vector<T>& values,
                                        const DistinctOptions& options) {
    const Source source = source_of(values);
    const Distinct whole = distinct(coordinator, source, options).value;
    for (const std::uint64_t sections : {1, 3, 40}) {  // of 40, some are empty
      std::vector<PartialResult<Distinct>> parts;
      for (std::uint64_t i = 0; i < sections; ++i) {
        const Source section = shard(source, i, sections, tile_elements);
        const auto part = collect_distinct(coordinator, section, options).value;
        parts.push_back(load_distinct(source.element(), options, part.save()));
        EXPECT_EQ(parts.back().save(), part.save());
      }
      const Distinct found = test::merge_parts(std::move(parts), random);
      EXPECT_EQ(test::bits_of(found.estimate), test::bits_of(whole.estimate));
      if (options.estimate)
        EXPECT_FALSE(found.distinct);
      else
        expect_counted(found, values, options.counts);
    }
  };
  expect_same(test::varied_values<float>(9 * tile_elements + 77), {.counts = 1000});
  expect_same(test::varied_values<double>(9 * tile_elements + 77), {});
  expect_same(test::varied_values<std::int16_t>(3 * tile_elements + 1), {.counts = 1'000'000});
  expect_same(test::random_bits<std::int32_t>(3 * tile_elements), {.estimate = true});
}

TEST_P(DistinctTest, GoOnWhereTheyWereStopped) {
  const std::vector<float> values = test::varied_values<float>(5 * tile_elements);
  const Source source = source_of(values);
  const test::TempDir dir;
  const DistinctOptions options{.counts = 50};
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
  expect_counted(find(source, options, {}, wanted).value, values, options.counts);
}

// As those of a pass that failed, and is repeated with smaller chunks.
TEST_P(DistinctTest, PartialsThatAreDiscardedLeaveNothing) {
  const auto device = make_device(GetParam());
  device->bind_to_thread();
  const auto stream = device->make_stream();
  const distincts::FindDistinct<double> find({.counts = 9}, {MiB});
  const std::vector<double> values{1, 2, 2};
  const Buffer data(device->device_memory(), sizeof(double) * values.size());
  stream->copy(data.data(), values.data(), data.size());
  const auto partial_of = [&](std::size_t count) {
    std::vector<OpaquePartial> partials;
    partials.push_back(find.make_partial(*stream));
    find.consume(*stream, {{data.as<double>(), count}, 0}, partials.front());
    find.finish(*stream, partials);
    return std::move(partials.front());
  };
  OpaquePartial total, first = partial_of(3);
  find.merge(total, first);
  (void)partial_of(2);
  expect_counted(find.result(std::move(total)), values, 9);
}

TEST_P(DistinctTest, OfSeveralDevices) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_device(GetParam()));
  devices.push_back(make_device(DeviceKind::cpu));
  devices.front()->bind_to_thread();  // it has started, and takes part
  Coordinator team(std::move(devices), {.chunk_bytes = 256 * KiB});
  const std::vector<double> values = test::varied_values<double>(40 * tile_elements + 77);
  for (const std::uint64_t counts : {0, 1000}) {
    expect_counted(distinct(team, source_of(values), {.counts = counts}).value, values, counts);
  }
}

TEST_P(DistinctTest, OptionsHaveLimits) {
  const Source source = source_of(std::vector<float>{1});
  for (const DistinctOptions options : {DistinctOptions{.counts = max_distinct_counts + 1},
                                        DistinctOptions{.counts = 1, .estimate = true}}) {
    Coordinator coordinator(make_device(GetParam()));
    expect_error(ErrorKind::usage, "values", [&] { find(source, options); });
    expect_error(ErrorKind::usage, "values",
                 [&] { (void)collect_distinct(coordinator, source, options); });
    expect_error(ErrorKind::usage, "values",
                 [&] { (void)load_distinct(ElementType::f4, options, {}); });
    expect_error(ErrorKind::usage, "values",
                 [&] { (void)dry_run_distinct({}, GetParam(), source, options); });
  }
  EXPECT_EQ(find(source, {.counts = max_distinct_counts}).value.values.size(), 1u);
  EXPECT_EQ(dry_run_distinct({}, GetParam(), source).outcome.passes, 1u);
}

TEST_P(DistinctTest, PartsThatNoDataHaveAreRefused) {
  Coordinator coordinator(make_device(GetParam()));
  const DistinctOptions options{.counts = 2};
  const auto saved =
      collect_distinct(coordinator, source_of(std::vector<float>{2, 3, 3}), options).value.save();
  (void)load_distinct(ElementType::f4, options, saved);
  expect_error(ErrorKind::usage, "", [&] { (void)load_distinct(ElementType::f4, {}, saved); });
  expect_error(ErrorKind::usage, "", [&] { (void)load_distinct(ElementType::u4, options, saved); });
  // At the end: the registers, whether the table was full, the number of entries, and bits and
  // count of both.
  const auto expect_refused = [&](std::size_t before_end, std::byte value) {
    SCOPED_TRACE(before_end);
    auto forged = saved;
    ASSERT_NE(forged[forged.size() - before_end], value);
    forged[forged.size() - before_end] = value;
    expect_error(ErrorKind::bad_input, "",
                 [&] { (void)load_distinct(ElementType::f4, options, forged); });
  };
  expect_refused(8, std::byte{9});      // more elements than the part has
  expect_refused(8, std::byte{0});      // a value that no element has
  expect_refused(13, std::byte{0xc0});  // another value than the registers have seen
  expect_refused(9, std::byte{1});      // more bits than the type has
  expect_refused(40, std::byte{3});     // more values than the part has
  expect_refused(41, std::byte{2});     // neither full nor not
  expect_refused(42, std::byte{99});    // a rank that no hash has
  expect_refused(42, std::byte{1});     // a value that the part does not have
  auto exchanged = saved;
  std::swap_ranges(exchanged.end() - 32, exchanged.end() - 16, exchanged.end() - 16);
  expect_error(ErrorKind::bad_input, "",
               [&] { (void)load_distinct(ElementType::f4, options, exchanged); });
}

}  // namespace
}  // namespace ooc::detail
