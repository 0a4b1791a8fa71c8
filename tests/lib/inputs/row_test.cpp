#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/host_operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

struct Sums {
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> of_columns{};

  friend bool operator==(const Sums&, const Sums&) = default;
};

/// Adds up each column, weighted by the index of the row, which shows a row at a wrong place.
template <class T>
struct ColumnSums {
  using Input = Row<T>;
  using Partial = Sums;

  void consume(Stream& stream, DeviceRows<const T> in, Sums& sums) const {
    const std::vector<T> host = test::on_host(stream, in);
    sums.of_columns.resize(in.columns);
    for (std::size_t i = 0; i < host.size(); ++i) {
      const std::uint64_t row = in.first + i / in.columns;
      sums.of_columns[i % in.columns] += (row + 1) * static_cast<std::uint64_t>(host[i]);
    }
    sums.rows += in.rows();
  }
  void merge(Sums& total, const Sums& part) const {
    total.rows += part.rows;
    total.of_columns.resize(std::max(total.of_columns.size(), part.of_columns.size()));
    for (std::size_t i = 0; i < part.of_columns.size(); ++i) {
      total.of_columns[i] += part.of_columns[i];
    }
  }
};

/// A sum that rounds: its bits show the partitions.
struct RoundedElementSum {
  using Input = float;
  using Partial = float;
  void consume(Stream& stream, DeviceSpan<const float> in, float& sum) const {
    const std::vector<float> host = test::on_host(stream, in);
    sum = std::accumulate(host.begin(), host.end(), sum);
  }
  void merge(float& total, const float& part) const { total += part; }
};

struct RoundedRowSum : RoundedElementSum {
  using Input = Row<float>;
};

/// Makes one value of each row: the sum of its elements.
struct SumEachRow {
  using Input = Row<std::uint32_t>;
  using Output = std::uint32_t;
  void transform(Stream& stream, DeviceRows<const std::uint32_t> in,
                 DeviceSpan<std::uint32_t> out) const {
    const std::vector<std::uint32_t> host = test::on_host(stream, in);
    std::vector<std::uint32_t> sums(in.rows());
    for (std::size_t i = 0; i < host.size(); ++i) sums[i / in.columns] += host[i];
    EXPECT_EQ(out.size, sums.size());
    stream.copy(out.data, sums.data(), sums.size() * sizeof(std::uint32_t));
    stream.synchronize();
  }
};

/// Makes a row of two values of each: its first element and its index. Counts the rows.
struct FirstAndIndex {
  using Input = Row<std::uint32_t>;
  using Output = Row<std::uint16_t>;
  using Partial = std::uint64_t;
  std::size_t output_columns(std::size_t) const { return 2; }
  void transform(Stream& stream, DeviceRows<const std::uint32_t> in, DeviceRows<std::uint16_t> out,
                 Partial& rows) const {
    const std::vector<std::uint32_t> host = test::on_host(stream, in);
    EXPECT_EQ(out.rows(), in.rows());
    EXPECT_EQ(out.first, in.first);
    EXPECT_EQ(out.columns, 2u);
    std::vector<std::uint16_t> made;
    for (std::size_t i = 0; i < in.rows(); ++i) {
      made.push_back(static_cast<std::uint16_t>(host[i * in.columns]));
      made.push_back(static_cast<std::uint16_t>(in.first + i));
    }
    stream.copy(out.data, made.data(), made.size() * sizeof(std::uint16_t));
    stream.synchronize();
    rows += in.rows();
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

class RowTest : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  static Coordinator coordinator(Options options = {}) {
    return Coordinator(make_device(GetParam()), options);
  }

  /// Writes a .npy file of that shape.
  template <class T>
  std::filesystem::path npy(const std::string& name, const std::vector<T>& values,
                            const std::vector<std::uint64_t>& shape, bool swapped = false) {
    std::vector<std::byte> bytes = npy_header({element_type_of<T>(), swapped}, shape);
    const std::size_t header = bytes.size();
    const auto data = std::as_bytes(std::span(values));
    bytes.insert(bytes.end(), data.begin(), data.end());
    for (std::size_t i = header; swapped && i < bytes.size(); i += sizeof(T)) {
      std::reverse(bytes.data() + i, bytes.data() + i + sizeof(T));
    }
    return dir_.write(name, bytes);
  }

  /// Element i has the value i mod 251.
  template <class T>
  static std::vector<T> counted(std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % 251);
    return values;
  }

  template <class T>
  static Sums expected(const std::vector<T>& values, std::size_t columns) {
    Sums sums{values.size() / columns, std::vector<std::uint64_t>(columns)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums.of_columns[i % columns] += (i / columns + 1) * static_cast<std::uint64_t>(values[i]);
    }
    return sums;
  }

  test::TempDir dir_;
};

TEST_P(RowTest, AreAsLongAsTheShapeSays) {
  for (const std::size_t columns : {1u, 3u, 7u, 128u, 100'003u}) {
    const std::size_t rows = 2'000'000 / columns + 1;
    const auto values = counted<std::uint32_t>(rows * columns);
    for (const bool swapped : {false, true}) {
      const Source source = open(npy("rows.npy", values, {rows, columns}, swapped));
      for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
        for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{1}}) {
          Coordinator machine = coordinator({.chunk_bytes = chunk_bytes, .direct = direct});
          EXPECT_EQ(fold(machine, ColumnSums<std::uint32_t>{}, source).value,
                    expected(values, columns))
              << columns << " columns";
        }
      }
    }
  }
}

TEST_P(RowTest, HaveAllElementsButThoseOfTheFirstDimension) {
  const auto values = counted<std::uint8_t>(5 * 4 * 3);
  Coordinator machine = coordinator();
  const ColumnSums<std::uint8_t> sums;
  EXPECT_EQ(fold(machine, sums, open(npy("cube.npy", values, {5, 4, 3}))).value,
            expected(values, 12));
  EXPECT_EQ(fold(machine, sums, open(npy("line.npy", values, {60}))).value, expected(values, 1));
  EXPECT_EQ(fold(machine, sums, open(npy("none.npy", std::vector<std::uint8_t>{}, {0, 3}))).value,
            Sums{});
  const std::vector<std::uint8_t> nothing;
  test::expect_error(ErrorKind::bad_input, "has the shape 3 x 0", [&] {
    fold(machine, sums, open(npy("empty.npy", nothing, {3, 0})));
  });
  const std::uint64_t huge = std::uint64_t{1} << 62;
  test::expect_error(ErrorKind::bad_input, "has the shape 0 x", [&] {
    fold(machine, ColumnSums<std::uint32_t>{},
         open(npy("huge.npy", std::vector<std::uint32_t>{}, {0, huge})));
  });
  test::expect_error(ErrorKind::bad_input, "different lengths", [&] {
    fold(machine, sums, open(npy("huger.npy", nothing, {0, huge, 8})));
  });
}

TEST_P(RowTest, DoNotLieSideBySideInFortranOrder) {
  Source source = open(npy("rows.npy", counted<std::uint32_t>(12), {3, 4}));
  SourceAccess::set_column_major(source, {{0, {3, 4}}});
  Coordinator machine = coordinator();
  test::expect_error(ErrorKind::bad_input, "is stored column by column",
                     [&] { fold(machine, ColumnSums<std::uint32_t>{}, source); });
}

TEST_P(RowTest, OfSeveralFilesGoOnInTheNext) {
  const auto values = counted<std::uint32_t>(1001 * 6);
  const std::vector<std::uint32_t> first(values.begin(), values.begin() + 6 * 400);
  const std::vector<std::uint32_t> second(values.begin() + 6 * 400, values.end());
  const std::array paths{npy("first.npy", first, {400, 6}), npy("second.npy", second, {601, 6})};
  Coordinator machine = coordinator();
  EXPECT_EQ(fold(machine, ColumnSums<std::uint32_t>{}, open(paths)).value, expected(values, 6));

  const std::array differ{paths[0], npy("third.npy", second, {1202, 3})};
  EXPECT_EQ(fold(machine, ColumnSums<std::uint32_t>{}, open(differ, {.count = 2400})).value.rows,
            400u);
  test::expect_error(ErrorKind::bad_input, "different lengths",
                     [&] { fold(machine, ColumnSums<std::uint32_t>{}, open(differ)); });
}

TEST_P(RowTest, AreNotDivided) {
  const auto path = npy("rows.npy", counted<std::uint32_t>(60), {10, 6});
  Coordinator machine = coordinator();
  EXPECT_EQ(fold(machine, ColumnSums<std::uint32_t>{}, open(path, {.count = 18})).value.rows, 3u);
  test::expect_error(ErrorKind::bad_input, "not a whole number", [&] {
    fold(machine, ColumnSums<std::uint32_t>{}, open(path, {.count = 20}));
  });
  test::expect_error(ErrorKind::bad_input, "holds uint32",
                     [&] { fold(machine, ColumnSums<std::uint16_t>{}, open(path)); });
}

// Whatever the chunks and lanes; with one column also the same as for elements.
TEST_P(RowTest, HaveTheSameBitsInEveryRun) {
  std::vector<float> values(3'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  const auto sum = [&](const auto& op, const Source& source, Options options) {
    Coordinator machine = coordinator(options);
    return std::bit_cast<std::uint32_t>(fold(machine, op, source).value);
  };
  const Source narrow = open(npy("narrow.npy", values, {3'000'000, 1}));
  const Source wide = open(npy("wide.npy", values, {30'000, 100}));
  const std::uint32_t of_elements = sum(RoundedElementSum{}, narrow, {});
  const std::uint32_t of_rows = sum(RoundedRowSum{}, wide, {});
  for (const std::size_t streams : {1u, 3u}) {
    for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{5} << 20}) {
      for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
        const Options options{.chunk_bytes = chunk_bytes, .streams = streams, .direct = direct};
        EXPECT_EQ(sum(RoundedRowSum{}, narrow, options), of_elements);
        EXPECT_EQ(sum(RoundedRowSum{}, wide, options), of_rows);
      }
    }
  }
}

TEST_P(RowTest, AreFoldedByTwoOperatorsInOnePass) {
  const auto values = counted<std::uint32_t>(70'000 * 5);
  const Source source = open(npy("rows.npy", values, {70'000, 5}));
  Coordinator machine = coordinator();
  const ColumnSums<std::uint32_t> sums;
  const auto both = fold(machine, std::tuple{sums, sums}, source).value;
  EXPECT_EQ(std::get<0>(both), expected(values, 5));
  EXPECT_EQ(std::get<1>(both), expected(values, 5));
}

// The larger one of an input and an output row determines the chunks.
TEST_P(RowTest, OfAMapAreInChunksOfTheUsualSize) {
  const auto values = counted<std::uint32_t>(200 * 30'000);
  const Source source = open(npy("rows.npy", values, {200, 30'000}));
  Coordinator machine = coordinator({.memory_bytes = 256u << 20});
  const Target target{.path = dir_.path() / "sums.npy", .type = {ElementType::u4}};
  EXPECT_LE(map(machine, SumEachRow{}, source, target).stats.layout.chunk_bytes, 16u << 20);
}

TEST_P(RowTest, AreMappedToElements) {
  const auto values = counted<std::uint32_t>(300'000 * 7);
  const Source source = open(npy("rows.npy", values, {300'000, 7}));
  const Target target{.path = dir_.path() / "sums.npy", .type = DType{ElementType::u4, true}};
  Coordinator machine = coordinator();
  map(machine, SumEachRow{}, source, target);
  const Source made = open(target.path);
  EXPECT_EQ(std::vector(made.shape().begin(), made.shape().end()),
            (std::vector<std::uint64_t>{300'000}));
  std::vector<std::uint32_t> sums(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / 7] += values[i];
  EXPECT_EQ(fold(machine, ColumnSums<std::uint32_t>{}, made).value, expected(sums, 1));
}

TEST_P(RowTest, AreMappedToRowsOfAnotherLength) {
  const std::size_t rows = 60'000;
  const auto values = counted<std::uint32_t>(rows * 9);
  const Source source = open(npy("rows.npy", values, {rows, 9}));
  Coordinator machine = coordinator();
  for (const bool swapped : {false, true}) {
    const Target target{.path = dir_.path() / (swapped ? "swapped.npy" : "pairs.npy"),
                        .type = DType{ElementType::u2, swapped}};
    EXPECT_EQ(map(machine, FirstAndIndex{}, source, target).value, rows);
    const Source made = open(target.path);
    EXPECT_EQ(std::vector(made.shape().begin(), made.shape().end()),
              (std::vector<std::uint64_t>{rows, 2}));
    std::vector<std::uint16_t> pairs;
    for (std::size_t i = 0; i < rows; ++i) {
      pairs.push_back(static_cast<std::uint16_t>(values[i * 9]));
      pairs.push_back(static_cast<std::uint16_t>(i));
    }
    EXPECT_EQ(fold(machine, ColumnSums<std::uint16_t>{}, made).value, expected(pairs, 2));
  }
  test::expect_error(ErrorKind::usage, "the operator makes uint16", [&] {
    map(machine, FirstAndIndex{}, source,
        {.path = dir_.path() / "wrong.npy", .type = {ElementType::u4}});
  });
}

INSTANTIATE_TEST_SUITE_P(All, RowTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
