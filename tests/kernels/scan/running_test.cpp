// Tests running() against its definition, element by element, for all element types.

#include <ooc/error.hpp>
#include <ooc/running.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/devices.hpp"
#include "support/npy_header.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

template <class T>
std::string as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Sums of floats: rows of 256 within tiles of 65,536, whose totals are two doubles.
template <class T>
std::vector<double> float_sums(const std::vector<T>& values) {
  std::vector<double> sums;
  double row = 0, rows = 0, high = 0, low = 0;
  const auto with_lost = [](double a, double b) {
    const double sum = a + b, of_b = sum - a;
    const double lost = (a - (sum - of_b)) + (b - of_b);
    return std::pair(sum, std::isfinite(lost) ? lost : 0);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    row += to_double(values[i]);
    const auto [sum, lost] = with_lost(high, rows + row);
    const auto [next_high, next_low] = with_lost(sum, lost + low);
    sums.push_back(std::isnan(next_high) ? std::bit_cast<double>(0x7ff8ull << 48) : next_high);
    if (i % 256 != 255) continue;
    rows += row;
    row = 0;
    if (i % 65536 != 65535) continue;
    high = next_high;
    low = next_low;
    rows = 0;
  }
  return sums;
}

/// Returns the bytes of what running() is to write.
template <class T>
std::string expected(const std::vector<T>& values, const RunningOptions& options) {
  if (options.value != RunningValue::sum) {
    std::vector<T> best;
    for (const T value : values) {
      const T so_far = best.empty() ? value : best.back();
      const auto number = [](T one) {
        if constexpr (std::is_integral_v<T>) return one;
        if constexpr (!std::is_integral_v<T>) return to_double(one);
      };
      const bool is_better = options.value == RunningValue::minimum
                                 ? number(value) < number(so_far)
                                 : number(value) > number(so_far);
      const bool had_nan = number(so_far) != number(so_far);
      const bool is_nan = number(value) != number(value);
      best.push_back(!had_nan && (is_better || is_nan) ? value : so_far);
    }
    return as_bytes(best);
  }
  const auto shifted = [&](auto sums) {
    if (options.exclusive && !sums.empty()) {
      sums.insert(sums.begin(), 0);
      sums.pop_back();
    }
    return as_bytes(sums);
  };
  if constexpr (is_floating<T>) {
    return shifted(float_sums(values));
  } else {
    std::vector<std::uint64_t> sums;
    std::uint64_t sum = 0;
    for (const T value : values) sums.push_back(sum += static_cast<std::uint64_t>(value));
    return shifted(std::move(sums));
  }
}

class RunningTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator(std::size_t chunk_bytes, std::size_t streams) const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = chunk_bytes, .streams = streams});
  }

  /// Returns the bytes of a raw target, and verifies them.
  std::string results(Coordinator& scans, const Source& source, const RunningOptions& options) {
    const std::filesystem::path path = dir_.path() / "y.bin";
    const auto [count, stats] = running(scans, source, {.path = path, .replace = true}, options);
    EXPECT_EQ(count, source.elements());
    const ElementType made = running_type(source.element(), options.value);
    if (count != 0) verify_running(scans, source, open(path, {.type = made}), options);
    return test::read_whole(path);
  }

  static std::vector<RunningOptions> all_options() {
    return {{},
            {.exclusive = true},
            {.value = RunningValue::minimum},
            {.value = RunningValue::maximum}};
  }

  template <class T>
  void compare(Coordinator& scans, const std::vector<T>& values) {
    for (const RunningOptions& options : all_options()) {
      EXPECT_TRUE(results(scans, from_memory(values), options) == expected(values, options))
          << name_of(element_type_of<T>()) << ", " << static_cast<int>(options.value)
          << (options.exclusive ? " exclusive" : "") << ", " << values.size();
    }
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, RunningTest, test::all_devices, test::device_name);

TEST_P(RunningTest, FollowsTheDefinitionForEveryType) {
  Coordinator scans = coordinator(1, 3);
  for (const ElementType type : test::all_types) {
    visit(type,
          [&]<class T>(std::type_identity<T>) { compare(scans, test::varied_values<T>(600'001)); });
  }
}

TEST_P(RunningTest, AnyBitsOfFloats) {
  Coordinator scans = coordinator(1, 2);
  for (const ElementType type :
       {ElementType::f2, ElementType::bf16, ElementType::f4, ElementType::f8}) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      for (const std::size_t first_special : {0, 70'000, 300'000}) {
        const std::vector<std::byte> bytes = test::random_bytes(400'000 * sizeof(T), 5);
        std::vector<T> values(400'000);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        std::fill_n(values.begin(), first_special, T{});
        compare(scans, values);
      }
    });
  }
}

TEST_P(RunningTest, AnyNumberOfElements) {
  Coordinator scans = coordinator(1, 2);
  for (const std::size_t count : {0, 1, 2, 255, 256, 257, 2048, 2049, 65'535, 65'536, 65'537,
                                  262'143, 262'144, 262'145, 524'288, 1'000'000}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i)) + 0.25f;
    compare(scans, values);
    compare(scans, std::vector<std::int8_t>(count, -3));
  }
}

TEST_P(RunningTest, HasTheSameBitsForAllSizes) {
  std::vector<double> values(3'000'001);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::ldexp(std::sin(static_cast<double>(i)), static_cast<int>(i % 60));
  }
  const std::string whole = expected(values, {});
  for (const std::size_t chunk : {1, 4 << 20, 64 << 20}) {
    for (const std::size_t streams : {1, 2, 5}) {
      Coordinator scans = coordinator(chunk, streams);
      EXPECT_TRUE(results(scans, from_memory(values), {}) == whole) << chunk << " " << streams;
    }
  }
}

TEST_P(RunningTest, TheErrorDoesNotGrow) {
  Coordinator scans = coordinator(1, 2);
  const std::vector<float> values(5'000'000, 0.1f);
  const std::string found = results(scans, from_memory(values), {});
  double last = 0;
  std::memcpy(&last, &found[found.size() - sizeof last], sizeof last);
  const long double exact = 5'000'000.0L * static_cast<long double>(0.1f);
  EXPECT_LE(std::abs(last - exact), exact * 0x1p-50L);
}

TEST_P(RunningTest, InfinitiesStay) {
  Coordinator scans = coordinator(1, 2);
  std::vector<double> values(200'000, 1);
  values[1000] = std::numeric_limits<double>::infinity();
  compare(scans, values);
  values[150'000] = -values[1000];  // NaN from here on
  compare(scans, values);
  std::vector<double> large(200'000, 0);
  large[5] = large[70'000] = std::numeric_limits<double>::max();  // their sum overflows
  large[140'000] = -std::numeric_limits<double>::max();
  compare(scans, large);
}

TEST_P(RunningTest, WritesOneDimensionOfTheSourcesOrder) {
  std::vector<std::uint16_t> values(24'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i * 7);
  std::vector<std::uint16_t> swapped = values;
  for (std::uint16_t& value : swapped) value = static_cast<std::uint16_t>(value << 8 | value >> 8);
  Source source = from_memory(std::as_bytes(std::span(swapped)), DType{ElementType::u2, true});
  source.set_shape({6'000, 2, 2});
  Coordinator scans = coordinator(1, 2);
  const Target target{.path = dir_.path() / "y.npy"};
  running(scans, source, target);
  const Source found = open(target.path);
  EXPECT_EQ(std::vector(found.shape().begin(), found.shape().end()),
            std::vector<std::uint64_t>{24'000});
  EXPECT_EQ(found.type(), DType{ElementType::i8});
  EXPECT_TRUE(test::read_whole(target.path).substr(test::npy_header_bytes) == expected(values, {}));
  verify_running(scans, source, found);
}

TEST(RunningRefusalTest, WhatCannotBe) {
  Coordinator scans(make_device(DeviceKind::cpu));
  const std::vector<float> values(10);
  const Source source = from_memory(values);
  const test::TempDir dir;
  const auto refuse = [&](ErrorKind kind, const std::string& what, const Source& from,
                          Target target, const RunningOptions& options) {
    target.path = dir.path() / "y.npy";
    test::expect_error(kind, what, [&] { running(scans, from, target, options); });
    test::expect_error(kind, what,
                       [&] { dry_run_running({}, DeviceKind::cpu, from, target, options); });
  };
  refuse(ErrorKind::usage, "an exclusive minimum or maximum has no first value", source,
         {.path = {}}, {.value = RunningValue::minimum, .exclusive = true});
  refuse(ErrorKind::usage, "is to hold <f4, not <f8", source,
         {.path = {}, .type = {ElementType::f4}}, {});
  DType pairs;
  pairs.struct_bytes = 8;
  pairs.fields = {{.name = "a", .element = ElementType::i4}};
  refuse(ErrorKind::bad_input, "holds structs",
         from_memory(std::as_bytes(std::span(values)), pairs), {.path = {}}, {});
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace ooc::detail
