// Tests filters by ranges and masks against simple loops, for all element types.

#include <ooc/error.hpp>
#include <ooc/filter_by.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/devices.hpp"
#include "support/special_values.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::infinity;

class FilterByTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator() const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = 262144, .streams = 2});
  }

  FilterTargets targets(const std::string& ending = ".bin") const {
    return {.kept = {.path = dir_.path() / ("kept" + ending), .replace = true},
            .rest = Target{.path = dir_.path() / ("rest" + ending), .replace = true}};
  }

  /// Filters, verifies the files, and expects them to have these bytes.
  void expect_filtered(const FilterRule& rule, const Source& source, const FilterTargets& to,
                       const std::string& kept, const std::string& rest) const {
    Coordinator filters = coordinator();
    const Selection found = filter_by(filters, rule, source, to).value;
    EXPECT_TRUE(test::read_whole(to.kept.path) == kept);
    if (to.rest) {
      EXPECT_TRUE(test::read_whole(to.rest->path) == rest);
    }
    EXPECT_NO_THROW(verify_filter_by(filters, rule, source, to, found));
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, FilterByTest, test::all_devices, test::device_name);

long double exact(const Scalar& scalar) {
  return scalar.is_integer() ? static_cast<long double>(std::get<int128>(scalar))
                             : static_cast<long double>(std::get<double>(scalar));
}

template <class T>
long double exact(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<long double>(value);
  } else {
    return to_double(value);
  }
}

/// True if a number is in a range; long doubles have all integers of 64 bits.
bool is_in(const FilterByRange& range, long double value) {
  const auto& [lower, upper, column] = range;
  const bool is_low = lower && (value < exact(lower->value) ||
                                (!lower->is_included && value == exact(lower->value)));
  const bool is_high = upper && (value > exact(upper->value) ||
                                 (!upper->is_included && value == exact(upper->value)));
  return value == value && !is_low && !is_high;
}

template <class T>
std::vector<T> values_of_all_kinds() {
  const std::vector<std::byte> bytes = test::random_bytes(20'003 * sizeof(T), 5);
  std::vector<T> values(20'003);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    for (std::size_t i = 0; i < 5; ++i) values[i] = static_cast<T>((std::uint64_t{1} << 53) + i);
  }
  return values;
}

std::vector<FilterByRange> ranges() {
  const int128 large = (int128{1} << 53) + 1;
  const std::vector<Scalar> ends{-infinity,   -3.5,  int128{0}, int128{1}, 1.5,
                                 int128{100}, large, 0x1p64,    infinity};
  std::vector<FilterByRange> all{{}};
  for (const Scalar& end : ends) {
    for (const bool included : {false, true}) {
      all.push_back({.lower = RangeEnd{end, included}});
      all.push_back({.upper = RangeEnd{end, included}});
    }
    if (exact(end) >= -3.5L) {
      all.push_back({.lower = RangeEnd{-3.5}, .upper = RangeEnd{end, false}});
    }
  }
  return all;
}

TEST_P(FilterByTest, KeepsTheValuesOfARangeOfAllTypes) {
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      const std::vector<T> values = values_of_all_kinds<T>();
      const Source source = from_memory(std::as_bytes(std::span(values)), type);
      for (const FilterByRange& range : ranges()) {
        std::string kept, rest;
        for (const T& value : values) {
          (is_in(range, exact(value)) ? kept : rest)
              .append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        expect_filtered(range, source, targets(), kept, rest);
      }
    });
  }
}

TEST_P(FilterByTest, KeepsRowsAndStructsByOneOfTheirNumbers) {
  std::vector<std::int16_t> rows;
  for (std::size_t i = 0; i < 60'000; ++i) rows.push_back(static_cast<std::int16_t>(i * i % 11));
  std::string kept, rest;
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    (rows[i + 1] > 4 ? kept : rest)
        .append(reinterpret_cast<const char*>(&rows[i]), 3 * sizeof rows[i]);
  }
  const RangeEnd above{int128{4}, false};
  Source source = from_memory(rows);
  source.set_shape({rows.size() / 3, 3});
  expect_filtered(FilterByRange{.lower = above, .column = "1"}, source, targets(), kept, rest);
  DType pairs;
  pairs.struct_bytes = 6;
  pairs.fields = {{.name = "a", .element = ElementType::i2},
                  {.name = "b", .element = ElementType::i2, .offset = 2}};
  const Source structs = from_memory(std::as_bytes(std::span(rows)), pairs);
  expect_filtered(FilterByRange{.lower = above, .column = "b"}, structs, targets(), kept, rest);
}

TEST_P(FilterByTest, ReadsFieldsOfAnyByteOrderAndBools) {
  std::string structs, kept, of_flag;
  for (int i = 0; i < 70'000; ++i) {
    const auto value = static_cast<float>(i % 1000) - 500;
    char bytes[7];  // one of padding, the value from the last byte to the first, and the flag
    std::memcpy(bytes + 1, &value, sizeof value);
    std::reverse(bytes + 1, bytes + 5);
    bytes[0] = 'x';
    bytes[5] = static_cast<char>(i % 3 * 2);
    bytes[6] = 'y';
    structs.append(bytes, sizeof bytes);
    bytes[5] = static_cast<char>(i % 3 != 0);  // as bools are written
    const std::string record(bytes, sizeof bytes);
    if (value < -100) kept += record;
    if (i % 3 != 0) of_flag += record;
  }
  DType type;
  type.struct_bytes = 7;
  type.fields = {{.name = "v", .element = ElementType::f4, .swapped = true, .offset = 1},
                 {.name = "flag", .offset = 5, .is_bool = true}};
  const Source source = from_memory(std::as_bytes(std::span(structs)), type);
  FilterTargets to = targets();
  to.rest.reset();
  const FilterByRange low{.upper = RangeEnd{-100.0, false}, .column = "v"};
  expect_filtered(low, source, to, kept, {});
  const RangeEnd one{int128{1}};
  expect_filtered(FilterByRange{.lower = one, .upper = one, .column = "flag"}, source, to, of_flag,
                  {});
}

TEST_P(FilterByTest, KeepsWhatAMaskHasForElementsAndForRows) {
  std::vector<std::uint32_t> values(90'000);
  std::vector<float> mask(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    values[i] = i;
    mask[i] = i % 7 == 0 ? 0.0f : i % 7 == 1 ? -0.0f : std::numeric_limits<float>::quiet_NaN();
  }
  std::string kept, rest, rows, other_rows;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const char*>(&values[i]);
    (i % 7 > 1 ? kept : rest).append(bytes, sizeof values[i]);
    (i / 3 % 7 > 1 ? rows : other_rows).append(bytes, sizeof values[i]);
  }
  Source source = from_memory(values);
  source.set_shape({values.size() / 3, 3});
  const Source of_elements = from_memory(mask);
  expect_filtered(FilterByMask{&of_elements}, source, targets(), kept, rest);
  mask.resize(values.size() / 3);
  const Source of_rows = from_memory(mask);
  expect_filtered(FilterByMask{&of_rows}, source, targets(), rows, other_rows);
}

TEST_P(FilterByTest, WritesIndices) {
  std::vector<std::uint8_t> values(700'000);
  std::vector<std::int64_t> kept, rest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint8_t>(i * 31 % 251);
    (values[i] < 7 ? kept : rest).push_back(static_cast<std::int64_t>(i));
  }
  FilterTargets to = targets();
  to.indices = true;
  const auto as_text = [](const std::vector<std::int64_t>& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), 8 * numbers.size());
  };
  const Source source = from_memory(values);
  expect_filtered(FilterByRange{.upper = RangeEnd{int128{7}, false}}, source, to, as_text(kept),
                  as_text(rest));
}

TEST_P(FilterByTest, AFileThatWasChangedFailsItsCheck) {
  const std::vector<std::int32_t> values{5, 1, 7, 3, 9};
  const Source source = from_memory(values);
  const FilterByRange high{.lower = RangeEnd{int128{4}}};
  Coordinator filters = coordinator();
  const FilterTargets to = targets();
  const Selection found = filter_by(filters, high, source, to).value;
  EXPECT_EQ(found.seen, 5u);
  EXPECT_EQ(found.kept, 3u);
  const std::string kept = test::read_whole(to.kept.path);
  const auto expect_wrong = [&](const std::string& bytes, const std::string& what) {
    std::ofstream(to.kept.path, std::ios::binary) << bytes;
    test::expect_error(ErrorKind::verify, what,
                       [&] { verify_filter_by(filters, high, source, to, found); });
  };
  std::string other = kept;
  other[4] ^= 1;
  expect_wrong(other, "its record 1 is not record 2 of the data");
  expect_wrong(kept.substr(0, 8), "its record 2 is not record 4 of the data");
  expect_wrong(kept + kept.substr(0, 4), "it has more records than fit, by 1");
}

TEST(FilterByRefusalTest, RulesThatCannotBe) {
  Coordinator filters(make_device(DeviceKind::cpu));
  const std::vector<float> values(10);
  const Source source = from_memory(values);
  const test::TempDir dir;
  const FilterTargets to{.kept = {.path = dir.path() / "0.npy"}};
  const auto refuse = [&](ErrorKind kind, const FilterRule& rule, const std::string& what) {
    test::expect_error(kind, what, [&] { filter_by(filters, rule, source, to); });
    test::expect_error(kind, what,
                       [&] { dry_run_filter_by({}, DeviceKind::cpu, rule, source, to); });
  };
  refuse(ErrorKind::usage, FilterByRange{.lower = RangeEnd{std::nan("")}}, "an end of a range is");
  refuse(ErrorKind::usage, FilterByRange{.upper = RangeEnd{}}, "an end of a range is nothing");
  refuse(ErrorKind::usage, FilterByRange{.lower = RangeEnd{int128{1} << 64}}, "more than 64 bits");
  refuse(ErrorKind::usage, FilterByRange{.lower = RangeEnd{2.0}, .upper = RangeEnd{int128{1}}},
         "the range ends at 1, below its beginning at 2");
  refuse(ErrorKind::usage, FilterByRange{.column = "1"}, "has no column 1");
  const std::vector<std::uint8_t> mask(9);
  const Source of_nine = from_memory(mask);
  Source rows = from_memory(values), other_rows = from_memory(values);
  rows.set_shape({2, 5});
  other_rows.set_shape({5, 2});
  test::expect_error(ErrorKind::bad_input, "has other rows than",
                     [&] { filter_by(filters, FilterByMask{&other_rows}, rows, to); });
  refuse(ErrorKind::bad_input, FilterByMask{&of_nine}, "has 10 records, ");
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace ooc::detail
