// Tests the rules of splits against simple loops, for all element types.

#include <ooc/error.hpp>
#include <ooc/split_by.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/all_types.hpp"
#include "support/devices.hpp"
#include "support/npy_header.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

class SplitByTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Coordinator coordinator() const {
    return Coordinator(make_device(GetParam()), {.chunk_bytes = 262144, .streams = 2});
  }

  std::vector<Target> targets(std::size_t count, const std::string& ending = ".bin") const {
    std::vector<Target> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back({.path = dir_.path() / (std::to_string(i) + ending), .replace = true});
    }
    return all;
  }

  /// Returns the outputs of a split, of which `rule` makes `count`.
  std::vector<std::string> outputs(const SplitRule& rule, const Source& source,
                                   std::size_t count) const {
    Coordinator splits = coordinator();
    std::vector<std::string> files;
    for (const Target& target : targets(count)) files.push_back(target.path.string());
    split_by(splits, rule, source, targets(count));
    for (std::string& file : files) file = test::read_whole(file);
    return files;
  }

  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, SplitByTest, test::all_devices, test::device_name);

/// Returns what the outputs of a split by value are to have, by comparisons of long doubles, which
/// have all integers of 64 bits.
template <class T>
std::vector<std::string> by_value(const std::vector<T>& values, const std::vector<Scalar>& edges) {
  std::vector<std::string> expected(edges.size() + 1);
  for (const T value : values) {
    std::size_t output = 0;
    for (const Scalar& edge : edges) {
      const auto exact = edge.is_integer() ? static_cast<long double>(std::get<int128>(edge))
                                           : static_cast<long double>(std::get<double>(edge));
      long double number = 0;
      if constexpr (std::is_integral_v<T>) {
        number = static_cast<long double>(value);
      } else {
        number = to_double(value);
      }
      if (!(number < exact)) ++output;  // NaN, too
    }
    expected[output].append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return expected;
}

TEST_P(SplitByTest, ValuesOfAllTypesGoWhereNumPyWouldPutThem) {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  const std::vector<Scalar> edges{
      -1e300,      -3.5,          int128{0},         0.25,   int128{1},       1.5,
      int128{200}, int128{large}, int128{large} + 1, 0x1p63, int128{1} << 64, 1e300};
  for (const ElementType type : test::all_types) {
    visit(type, [&]<class T>(std::type_identity<T>) {
      std::vector<std::byte> bytes = test::random_bytes(200'003 * sizeof(T), 5);
      std::vector<T> values(200'003);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      if constexpr (sizeof(T) == 8) {
        for (std::int64_t i = 0; i < 5; ++i) {
          values[static_cast<std::size_t>(i)] = static_cast<T>(large - 2 + i);
        }
      }
      const Source source = from_memory(std::as_bytes(std::span(values)), type);
      EXPECT_TRUE(outputs(SplitByValue{edges}, source, edges.size() + 1) == by_value(values, edges))
          << name_of(type);
      EXPECT_TRUE(outputs(SplitByValue{}, source, 1) == by_value(values, {})) << name_of(type);
    });
  }
}

TEST_P(SplitByTest, ColumnsOfRowsAndStructsNameTheOutput) {
  std::vector<std::int16_t> rows;
  for (std::size_t i = 0; i < 60'000; ++i) rows.push_back(static_cast<std::int16_t>(i * i % 11));
  std::vector<std::string> expected(11);
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    expected[static_cast<std::size_t>(rows[i + 1])].append(reinterpret_cast<const char*>(&rows[i]),
                                                           3 * sizeof rows[i]);
  }
  Source source = from_memory(rows);
  source.set_shape({rows.size() / 3, 3});
  EXPECT_EQ(outputs(SplitByColumn{"1"}, source, 11), expected);
  DType pairs;
  pairs.struct_bytes = 6;
  pairs.fields = {{.name = "a", .element = ElementType::i2},
                  {.name = "b", .element = ElementType::i2, .offset = 2}};
  const Source structs = from_memory(std::as_bytes(std::span(rows)), pairs);
  EXPECT_EQ(outputs(SplitByColumn{"b"}, structs, 11), expected);
}

TEST_P(SplitByTest, RandomOutputsDependOnSeedAndIndexOnly) {
  std::vector<std::uint32_t> values(300'001);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i;
  const Source source = from_memory(values);
  const std::vector<std::string> found = outputs(SplitAtRandom{5}, source, 3);
  EXPECT_EQ(found, outputs(SplitAtRandom{5}, source, 3));
  EXPECT_NE(found, outputs(SplitAtRandom{6}, source, 3));
  for (const std::string& each : found) {
    EXPECT_NEAR(static_cast<double>(each.size()), 400'000.0, 4'000.0);
  }
}

TEST_P(SplitByTest, KeepsTheShapeOfRowsAndTheByteOrder) {
  std::vector<std::uint16_t> values(24'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i % 2);
  Source source = from_memory(std::as_bytes(std::span(values)), DType{ElementType::u2, true});
  source.set_shape({6'000, 2, 2});
  Coordinator splits = coordinator();
  const std::vector<Target> to = targets(2, ".npy");
  const auto [counts, stats] = split_by(splits, SplitAtRandom{1}, source, to);
  EXPECT_EQ(counts[0] + counts[1], 6'000u);
  const Source first = open(to[0].path);
  EXPECT_EQ(std::vector(first.shape().begin(), first.shape().end()),
            (std::vector<std::uint64_t>{counts[0], 2, 2}));
  EXPECT_EQ(first.type(), (DType{ElementType::u2, true}));
  const std::string data = test::read_whole(to[0].path).substr(test::npy_header_bytes);
  EXPECT_EQ(data.substr(0, 4), std::string(reinterpret_cast<const char*>(values.data()), 4));
}

TEST_P(SplitByTest, RefusesRecordsWithoutAnOutput) {
  std::vector<std::int32_t> labels(200'000, 1);
  labels[150'001] = -1;
  labels[160'000] = 7;
  const Source source = from_memory(labels);
  Coordinator splits = coordinator();
  test::expect_error(ErrorKind::bad_input, "record 150,001 goes to no output",
                     [&] { split_by(splits, SplitByColumn{"0"}, source, targets(3)); });
  labels[150'001] = 2;
  test::expect_error(ErrorKind::bad_input, "record 160,000 goes to no output",
                     [&] { split_by(splits, SplitByColumn{"0"}, source, targets(3)); });
  const std::vector<std::int8_t> negative{0, -1};
  const Source narrow = from_memory(negative);
  test::expect_error(ErrorKind::bad_input, "record 1 goes to no output",
                     [&] { split_by(splits, SplitByColumn{"0"}, narrow, targets(300)); });
  EXPECT_TRUE(dir_.names().empty());
}

TEST(SplitByRefusalTest, RulesThatCannotBe) {
  Coordinator splits(make_device(DeviceKind::cpu));
  const std::vector<float> values(10);
  const Source source = from_memory(values);
  const test::TempDir dir;
  const std::vector<Target> to{{dir.path() / "0.npy"}, {dir.path() / "1.npy"}};
  const auto refuse = [&](const SplitRule& rule, const std::string& what) {
    test::expect_error(ErrorKind::usage, what, [&] { split_by(splits, rule, source, to); });
    test::expect_error(ErrorKind::usage, what,
                       [&] { dry_run_split_by({}, DeviceKind::cpu, rule, source, to); });
  };
  refuse(SplitByValue{{1.0, 2.0}}, "2 edges make 3 outputs, not 2");
  refuse(SplitByValue{{std::numeric_limits<double>::infinity()}}, "must be finite");
  refuse(SplitByColumn{"1"}, "has no column 1");
  refuse(SplitByColumn{"0"}, "which is no integer");
  const std::vector<Target> three{to[0], to[1], {dir.path() / "2.npy"}};
  test::expect_error(ErrorKind::usage, "the edge 2 is followed by 2, which is not greater", [&] {
    split_by(splits, SplitByValue{{int128{2}, 2.0}}, source, three);
  });
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace ooc::detail
