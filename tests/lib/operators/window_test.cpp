#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using Value = std::uint32_t;

/// A chunk and its neighbours on the host.
struct HostWindow {
  HostWindow(Stream& stream, DeviceWindow<const Value> in)
      : values(in.before + in.size + in.after), before(in.before), after(in.after) {
    stream.copy(values.data(), in.data - in.before, values.size() * sizeof(Value));
    stream.synchronize();
    until.resize(values.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) until[i + 1] = until[i] + values[i];
  }

  /// Returns the sum of element `index` of the chunk and its neighbours.
  Value sum_around(std::size_t index) const {
    const std::size_t place = before + index;
    const std::size_t end = place + 1 + std::min(values.size() - place - 1, wanted_after);
    return until[end] - until[place - std::min(place, wanted_before)];
  }

  std::vector<Value> values;
  std::vector<Value> until;  // sums of the values before each
  std::size_t before, after;
  std::size_t wanted_before = 0, wanted_after = 0;
};

/// Adds up the sums around all elements, weighted by their index.
struct SumsAround {
  using Input = Value;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 4096;
  std::size_t left = 0, right = 0;

  std::size_t before() const { return left; }
  std::size_t after() const { return right; }
  void consume(Stream& stream, DeviceWindow<const Value> in, Partial& sum) const {
    EXPECT_EQ(in.before, std::min<std::uint64_t>(left, in.first));
    EXPECT_LE(in.after, right);
    HostWindow window(stream, in);
    window.wanted_before = left;
    window.wanted_after = right;
    for (std::size_t i = 0; i < in.size; ++i) {
      sum += (in.first + i + 1) * std::uint64_t{window.sum_around(i)};
    }
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct SumsAroundInOrder : SumsAround {
  static constexpr Merge merge_order = Merge::in_order;
};

struct SumsAroundUnordered : SumsAround {
  static constexpr Merge merge_order = Merge::unordered;
};

/// Adds up, for each partition, the numbers of neighbours that it has.
struct EndsSum {
  using Input = Value;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 65536;
  std::size_t width = 0;

  std::size_t before() const { return width; }
  std::size_t after() const { return width; }
  void consume(Stream& stream, DeviceWindow<const Value> in, Partial& sum) const {
    const HostWindow window(stream, in);
    sum += in.before + 3 * in.after + window.values.front() + window.values.back();
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Adds up the bits by which bytes differ from the one before, weighted by their index.
struct ByteChanges {
  using Input = std::byte;
  using Partial = std::uint64_t;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::size_t partition_records = 1;

  std::size_t before() const { return 1; }
  void consume(Stream& stream, DeviceWindow<const std::byte> in, Partial& sum) const {
    std::vector<std::byte> host(in.before + in.size);
    stream.copy(host.data(), in.data - in.before, host.size());
    stream.synchronize();
    for (std::size_t i = in.before; i < host.size(); ++i) {
      if (i == 0) continue;
      sum += (in.first + i - in.before + 1) * (std::to_integer<std::uint64_t>(host[i]) ^
                                               std::to_integer<std::uint64_t>(host[i - 1]));
    }
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Replaces each element by the sum around it.
struct MovingSum {
  using Input = Value;
  using Output = Value;
  std::size_t left = 0, right = 0;

  std::size_t before() const { return left; }
  std::size_t after() const { return right; }
  void transform(Stream& stream, DeviceWindow<const Value> in, DeviceSpan<Value> out) const {
    HostWindow window(stream, in);
    window.wanted_before = left;
    window.wanted_after = right;
    std::vector<Value> sums;
    for (std::size_t i = 0; i < in.size; ++i) sums.push_back(window.sum_around(i));
    stream.copy(out.data, sums.data(), sums.size() * sizeof(Value));
    stream.synchronize();
  }
};

/// The same, and adds up what it makes.
struct MovingSumAndTotal : MovingSum {
  using Partial = std::uint64_t;
  void transform(Stream& stream, DeviceWindow<const Value> in, DeviceSpan<Value> out,
                 Partial& total) const {
    MovingSum::transform(stream, in, out);
    std::vector<Value> made(out.size);
    stream.copy(made.data(), out.data, out.size * sizeof(Value));
    stream.synchronize();
    for (const Value value : made) total += value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Subtracts the row before from each row; the first is left as it is.
struct RowDifferences {
  using Input = Row<Value>;
  using Output = Row<Value>;
  std::size_t before() const { return 1; }
  void transform(Stream& stream, DeviceRows<const Value> in, DeviceRows<Value> out) const {
    EXPECT_EQ(in.before, in.first == 0 ? 0u : 1u);
    EXPECT_EQ(in.after, 0u);
    const std::size_t all = (in.before + in.rows()) * in.columns;
    std::vector<Value> host(all), made(in.size);
    stream.copy(host.data(), in.row(-static_cast<std::ptrdiff_t>(in.before)).data,
                all * sizeof(Value));
    stream.synchronize();
    for (std::size_t i = 0; i < in.size; ++i) {
      const std::size_t at = i + in.before * in.columns;
      made[i] = host[at] - (at < in.columns ? 0 : host[at - in.columns]);
    }
    stream.copy(out.data, made.data(), made.size() * sizeof(Value));
    stream.synchronize();
  }
};

class WindowTest : public testing::TestWithParam<DeviceKind> {
 protected:
  static constexpr std::size_t count_ = 300'007;
  using Widths = std::pair<std::size_t, std::size_t>;

  void SetUp() override {
    OOC_SKIP_WITHOUT(GetParam());
    for (std::size_t i = 0; i < count_; ++i) values_[i] = static_cast<Value>(i * i % 1009);
  }

  /// Returns the sums around all values.
  std::vector<Value> moving_sums(std::size_t left, std::size_t right) const {
    std::vector<std::uint64_t> until(values_.size() + 1);
    for (std::size_t i = 0; i < values_.size(); ++i) until[i + 1] = until[i] + values_[i];
    std::vector<Value> sums(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::size_t end = std::min(i + right + 1, values_.size());
      sums[i] = static_cast<Value>(until[end] - until[i - std::min(i, left)]);
    }
    return sums;
  }

  std::uint64_t weighted(const std::vector<Value>& sums) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) total += (i + 1) * std::uint64_t{sums[i]};
    return total;
  }

  /// The sum that EndsSum finds if windows have all values.
  std::uint64_t ends_sum(std::size_t count) const {
    std::uint64_t sum = 0;
    for (std::size_t first = 0; first < count; first += EndsSum::partition_records) {
      const std::size_t end = std::min(first + EndsSum::partition_records, count);
      sum += first + 3 * (count - end) + values_.front() + values_.back();
    }
    return sum;
  }

  /// The values in two files.
  Source source() const {
    const std::span all(values_);
    const std::array paths{dir_.path() / "1.u32", dir_.path() / "2.u32"};
    test::write_file(paths[0], all.first(100'001));
    test::write_file(paths[1], all.subspan(100'001));
    return open(paths);
  }

  static Coordinator coordinator(const Options& options = {}) {
    return Coordinator(make_device(GetParam()), options);
  }

  bool holds(const std::filesystem::path& path, const std::vector<Value>& expected) const {
    return test::same_bytes(test::bytes_of(test::read_whole(path)),
                            std::as_bytes(std::span(expected)));
  }

  test::TempDir dir_;
  std::vector<Value> values_ = std::vector<Value>(count_);
};

TEST_P(WindowTest, ReachAcrossPartitionsChunksAndFiles) {
  const Source from = source();
  for (const auto& [left, right] : {Widths{0, 0}, Widths{1, 0}, Widths{0, 3}, Widths{70, 5000}}) {
    const std::vector<Value> sums = moving_sums(left, right);
    for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
      for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{1}}) {
        Coordinator machine =
            coordinator({.chunk_bytes = chunk_bytes, .streams = 3, .direct = direct});
        EXPECT_EQ(fold(machine, SumsAround{left, right}, from).value, weighted(sums))
            << left << " before, " << right << " after";
        const Target target{
            .path = dir_.path() / "sums.u32", .type = {ElementType::u4}, .replace = true};
        map(machine, MovingSum{left, right}, from, target);
        EXPECT_TRUE(holds(target.path, sums));
        std::uint64_t total = 0;
        for (const Value sum : sums) total += sum;
        EXPECT_EQ(map(machine, MovingSumAndTotal{{left, right}}, from, target).value, total);
        EXPECT_TRUE(holds(target.path, sums));
      }
    }
  }
}

TEST_P(WindowTest, AreCutAtTheEndsOfShortData) {
  for (const std::size_t count : {1u, 2u, 9u}) {
    values_.resize(count);
    const std::filesystem::path path = dir_.path() / "short.u32";
    test::write_file(path, values_);
    Coordinator machine = coordinator();
    EXPECT_EQ(fold(machine, SumsAround{5, 7}, open(path)).value, weighted(moving_sums(5, 7)));
  }
}

TEST_P(WindowTest, OfOperatorsInOnePassHaveTheirOwnWidth) {
  Coordinator machine = coordinator({.chunk_bytes = 50'000});
  const auto all = fold(machine, std::tuple{SumsAround{2, 0}, SumsAround{0, 9}, SumsAround{}},
                        source(), {.checksum = true});
  EXPECT_EQ(std::get<0>(all.value), weighted(moving_sums(2, 0)));
  EXPECT_EQ(std::get<1>(all.value), weighted(moving_sums(0, 9)));
  EXPECT_EQ(std::get<2>(all.value), weighted(values_));
  const auto plain = fold(machine, SumsAround{}, source(), {.checksum = true});
  EXPECT_EQ(all.stats.outcome.checksum, plain.stats.outcome.checksum);
  EXPECT_EQ(all.stats.outcome.bytes, plain.stats.outcome.bytes);
}

TEST_P(WindowTest, MayBeWiderThanAllData) {
  const Source from = source();
  for (const std::size_t width : {count_, std::size_t{1} << 62, ~std::size_t{0}}) {
    for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{600'000}}) {
      Coordinator machine = coordinator({.chunk_bytes = chunk_bytes, .streams = 1});
      EXPECT_EQ(fold(machine, EndsSum{width}, from).value, ends_sum(count_)) << width;
    }
  }
}

// Bytes of elements in the other byte order: a margin of one byte must not cut an element.
TEST_P(WindowTest, OfSwappedBytesAreWholeElements) {
  const std::filesystem::path path = dir_.path() / "values.u32";
  std::vector<Value> swapped = values_;
  for (Value& value : swapped) value = __builtin_bswap32(value);
  test::write_file(path, swapped);
  std::uint64_t expected = 0;
  const auto bytes = std::as_bytes(std::span(values_));
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    expected += (i + 1) * (std::to_integer<std::uint64_t>(bytes[i]) ^
                           std::to_integer<std::uint64_t>(bytes[i - 1]));
  }
  const Source from = open(path, {.type = DType{ElementType::u4, true}});
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    for (const std::size_t chunk_bytes : {std::size_t{0}, std::size_t{1}}) {
      Coordinator machine = coordinator({.chunk_bytes = chunk_bytes, .direct = direct});
      EXPECT_EQ(fold(machine, ByteChanges{}, from).value, expected);
    }
  }
}

TEST_P(WindowTest, AreTheSameInEveryOrderOfMerging) {
  Coordinator machine = coordinator({.chunk_bytes = 60'000, .streams = 3});
  const std::uint64_t expected = weighted(moving_sums(30, 2));
  const Source from = source();
  EXPECT_EQ(fold(machine, SumsAroundInOrder{{30, 2}}, from).value, expected);
  EXPECT_EQ(fold(machine, SumsAroundUnordered{{30, 2}}, from).value, expected);
}

TEST_P(WindowTest, MayBeOfRows) {
  const std::size_t columns = 7, rows = count_ / columns;
  values_.resize(rows * columns);
  const std::filesystem::path path = dir_.path() / "rows.u32";
  test::write_file(path, values_);
  Source from = open(path);
  from.set_shape({rows, columns});
  std::vector<Value> expected = values_;
  for (std::size_t i = columns; i < values_.size(); ++i) expected[i] -= values_[i - columns];
  for (const DirectIo direct : {DirectIo::no, DirectIo::automatic}) {
    Coordinator machine = coordinator({.chunk_bytes = 40'000, .direct = direct});
    const Target target{
        .path = dir_.path() / "differences.u32", .type = {ElementType::u4}, .replace = true};
    map(machine, RowDifferences{}, from, target);
    EXPECT_TRUE(holds(target.path, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(All, WindowTest, test::all_devices, test::device_name);

}  // namespace
}  // namespace ooc::detail
