#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/host_operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// Adds up the values whose mask is not 0. Rounds, on the host, so that its bits show the order.
struct MaskedSum {
  using Input = std::tuple<float, std::uint8_t>;
  using Partial = float;
  static constexpr bool same_bits_everywhere = true;

  void consume(Stream& stream, DeviceChunk<const float> values,
               DeviceChunk<const std::uint8_t> mask, float& sum) const {
    EXPECT_EQ(values.first, mask.first);
    ASSERT_EQ(values.size, mask.size);
    const auto numbers = test::on_host(stream, values);
    const auto good = test::on_host(stream, mask);
    for (std::size_t i = 0; i < numbers.size(); ++i) sum += good[i] != 0 ? numbers[i] : 0;
  }
  void merge(float& total, const float& part) const { total += part; }
};

struct CountMasked {
  using Input = std::tuple<float, std::uint8_t>;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceSpan<const float>, DeviceSpan<const std::uint8_t> mask,
               Partial& count) const {
    for (const std::uint8_t good : test::on_host(stream, mask)) count += good != 0;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Weights each row of a matrix by an element of a vector and adds up all.
struct WeightedRowsAndOffsets {
  using Input = std::tuple<Row<std::uint16_t>, std::uint32_t, std::uint64_t>;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceRows<const std::uint16_t> rows,
               DeviceChunk<const std::uint32_t> weights, DeviceChunk<const std::uint64_t> offsets,
               Partial& sum) const {
    const auto elements = test::on_host(stream, rows);
    const auto factors = test::on_host(stream, weights);
    const auto added = test::on_host(stream, offsets);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      sum += added[i];
      for (std::size_t k = 0; k < rows.columns; ++k) {
        sum += std::uint64_t{factors[i]} * elements[i * rows.columns + k];
      }
    }
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Adds two files, element by element.
struct Add {
  using Input = std::tuple<std::uint32_t, std::uint16_t>;
  using Output = std::uint32_t;
  void transform(Stream& stream, DeviceChunk<const std::uint32_t> left,
                 DeviceChunk<const std::uint16_t> right, DeviceSpan<std::uint32_t> out) const {
    auto sums = test::on_host(stream, left);
    const auto added = test::on_host(stream, right);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += added[i];
    stream.copy(out.data, sums.data(), sums.size() * sizeof(std::uint32_t));
    stream.synchronize();
  }
};

/// The same, and counts them.
struct AddAndCount : Add {
  using Partial = std::uint64_t;
  void transform(Stream& stream, DeviceChunk<const std::uint32_t> left,
                 DeviceChunk<const std::uint16_t> right, DeviceSpan<std::uint32_t> out,
                 Partial& count) const {
    Add::transform(stream, left, right, out);
    count += left.size;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Multiplies the rows of a matrix by the elements of a vector.
struct ScaledRows {
  using Input = std::tuple<std::uint32_t, Row<std::uint32_t>>;
  using Output = Row<std::uint32_t>;
  void transform(Stream& stream, DeviceChunk<const std::uint32_t> factors,
                 DeviceRows<const std::uint32_t> rows, DeviceRows<std::uint32_t> out) const {
    EXPECT_EQ(out.columns, rows.columns);
    ASSERT_EQ(out.size, rows.size);
    const auto by = test::on_host(stream, factors);
    auto made = test::on_host(stream, rows);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] *= by[i / rows.columns];
    stream.copy(out.data, made.data(), made.size() * sizeof(std::uint32_t));
    stream.synchronize();
  }
};

/// Does not say how long the rows are that it makes of two.
struct Unclear {
  using Input = std::tuple<Row<std::uint32_t>, Row<std::uint32_t>>;
  using Output = Row<std::uint32_t>;
  void transform(Stream&, DeviceRows<const std::uint32_t>, DeviceRows<const std::uint32_t>,
                 DeviceRows<std::uint32_t>) const {}
};

struct NoColumns : Unclear {
  std::size_t output_columns(std::size_t) const { return 0; }
};

class ZipTest : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr std::size_t count_ = 700'001;

  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  template <class T>
  std::filesystem::path file(const std::string& name, const std::vector<T>& values,
                             std::size_t header = 0) const {
    const std::filesystem::path path = dir_.path() / name;
    test::write_file(path, values, header);
    return path;
  }

  template <class T>
  static std::vector<T> counted(std::size_t count, std::size_t modulus) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % modulus);
    return values;
  }

  static Coordinator coordinator(const Options& options = {}) {
    return Coordinator(make_device(GetParam()), options);
  }

  test::TempDir dir_;
};

TEST_P(ZipTest, FoldsTwoFilesOfDifferentTypesWithTheSameBitsInEveryRun) {
  std::vector<float> values(count_);
  for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  const auto mask = counted<std::uint8_t>(count_, 3);
  const auto flux_path = file("flux.f32", values, 7);  // not aligned
  const auto good_path = file("good.u8", mask);
  const Source flux = open(flux_path, {.type = DType{ElementType::f4}, .offset = 7});
  const Source good = open(good_path);
  Coordinator first = coordinator();
  const auto [sum, stats] = fold(first, MaskedSum{}, zip(flux, good));
  double exact = 0;
  for (std::size_t i = 0; i < count_; ++i) exact += mask[i] != 0 ? values[i] : 0;
  EXPECT_NEAR(sum, exact, 1e-3);
  EXPECT_EQ(stats.outcome.records, count_);
  EXPECT_EQ(stats.outcome.bytes, 5 * count_);
  for (const std::size_t streams : {1u, 3u}) {
    for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{1}, std::size_t{3} << 20}) {
      for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
        test::evict(chunk_bytes == 0 ? flux_path : good_path);
        Coordinator machine =
            coordinator({.chunk_bytes = chunk_bytes, .streams = streams, .direct = direct});
        const float again = fold(machine, MaskedSum{}, zip(flux, good)).value;
        EXPECT_EQ(std::bit_cast<std::uint32_t>(again), std::bit_cast<std::uint32_t>(sum));
      }
    }
  }
  const auto both = fold(first, std::tuple{MaskedSum{}, CountMasked{}}, zip(flux, good)).value;
  EXPECT_EQ(std::get<0>(both), sum);
  EXPECT_EQ(std::get<1>(both), count_ - (count_ + 2) / 3);
}

TEST_P(ZipTest, TakesRowsAndMoreFiles) {
  const std::size_t rows = 50'003, columns = 6;
  const auto matrix = counted<std::uint16_t>(rows * columns, 1000);
  const auto weights = counted<std::uint32_t>(rows, 77);
  const auto offsets = counted<std::uint64_t>(rows, 5);
  Source of_rows = open(file("matrix.u16", matrix));
  of_rows.set_shape({rows, columns});
  const Source of_weights = open(file("weights.u32", weights));
  const Source of_offsets = open(file("offsets.u64", offsets));
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    expected += offsets[i];
    for (std::size_t k = 0; k < columns; ++k) {
      expected += std::uint64_t{weights[i]} * matrix[i * columns + k];
    }
  }
  Coordinator machine = coordinator();
  EXPECT_EQ(fold(machine, WeightedRowsAndOffsets{}, zip(of_rows, of_weights, of_offsets)).value,
            expected);
}

TEST_P(ZipTest, MapsTwoFilesToOne) {
  const auto left = counted<std::uint32_t>(count_, 1'000'000);
  const auto right = counted<std::uint16_t>(count_, 999);
  const Source of_left = open(file("left.u32", left)), of_right = open(file("right.u16", right));
  const Target target{.path = dir_.path() / "sum.u32", .type = {ElementType::u4}, .replace = true};
  std::vector<std::uint32_t> expected = left;
  for (std::size_t i = 0; i < count_; ++i) expected[i] += right[i];
  const auto bytes = std::as_bytes(std::span(expected));
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    Coordinator machine = coordinator({.chunk_bytes = 300'000, .direct = direct});
    map(machine, Add{}, zip(of_left, of_right), target);
    EXPECT_TRUE(test::same_bytes(test::bytes_of(test::read_whole(target.path)), bytes));
    EXPECT_EQ(map(machine, AddAndCount{}, zip(of_left, of_right), target).value, count_);
    EXPECT_TRUE(test::same_bytes(test::bytes_of(test::read_whole(target.path)), bytes));
  }
}

TEST_P(ZipTest, MapsRowsToRowsWhicheverInputHasThem) {
  const std::size_t rows = 40'001, columns = 5;
  auto matrix = counted<std::uint32_t>(rows * columns, 1000);
  const auto factors = counted<std::uint32_t>(rows, 77);
  const Source of_factors = open(file("factors.u32", factors));
  Source of_rows = open(file("matrix.u32", matrix));
  of_rows.set_shape({rows, columns});
  Coordinator machine = coordinator({.chunk_bytes = 90'000});
  const Target target{.path = dir_.path() / "scaled.npy", .type = {ElementType::u4}};
  map(machine, ScaledRows{}, zip(of_factors, of_rows), target);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] *= factors[i / columns];
  const Source made = open(target.path);
  EXPECT_EQ(std::vector(made.shape().begin(), made.shape().end()),
            (std::vector<std::uint64_t>{rows, columns}));
  EXPECT_TRUE(test::same_bytes(test::bytes_of(test::read_whole(target.path)).subspan(4096),
                               std::as_bytes(std::span(matrix))));

  Source narrow = open(file("narrow.u32", std::vector<std::uint32_t>(rows * 2)));
  narrow.set_shape({rows, 2});
  const Target other{.path = dir_.path() / "other.npy", .type = {ElementType::u4}};
  test::expect_error(ErrorKind::usage, "rows of 5 elements, another of 2",
                     [&] { map(machine, Unclear{}, zip(of_rows, narrow), other); });
  test::expect_error(ErrorKind::usage, "output_columns",
                     [&] { map(machine, NoColumns{}, zip(of_rows, of_rows), other); });
}

TEST_P(ZipTest, RefusesWhatDoesNotFit) {
  const Source flux = open(file("flux.f32", std::vector<float>(100)));
  const Source good = open(file("good.u8", std::vector<std::uint8_t>(99)));
  const Source wrong = open(file("wrong.u16", std::vector<std::uint16_t>(100)));
  Coordinator machine = coordinator();
  test::expect_error(ErrorKind::bad_input, "flux.f32 has 100 records, ",
                     [&] { fold(machine, MaskedSum{}, zip(flux, good)); });
  test::expect_error(ErrorKind::bad_input, "good.u8 has 99",
                     [&] { fold(machine, MaskedSum{}, zip(flux, good)); });
  Source turned = open(file("turned.u8", std::vector<std::uint8_t>(100)));
  SourceAccess::set_column_major(turned, {{0, {10, 10}}});
  test::expect_error(ErrorKind::usage, "not stored in the same order",
                     [&] { fold(machine, MaskedSum{}, zip(flux, turned)); });
  test::expect_error(ErrorKind::bad_input, "wrong.u16: holds uint16",
                     [&] { fold(machine, MaskedSum{}, zip(flux, wrong)); });
  test::expect_error(ErrorKind::usage, "checksum",
                     [&] { fold(machine, MaskedSum{}, zip(flux, good), {.checksum = true}); });
  const Source left = open(file("left.u32", std::vector<std::uint32_t>(100)));
  test::expect_error(ErrorKind::usage, "wrong.u16: is the input", [&] {
    map(machine, Add{}, zip(left, wrong),
        {.path = dir_.path() / "wrong.u16", .type = {ElementType::u4}, .replace = true});
  });
}

INSTANTIATE_TEST_SUITE_P(All, ZipTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
