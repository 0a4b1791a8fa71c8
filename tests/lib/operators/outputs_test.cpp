// Tests maps to several files.

#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/error.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using test::to_device;
using Value = std::uint32_t;

/// Each value's low byte, and its square.
struct LowAndSquare {
  using Input = Value;
  using Output = std::tuple<std::uint8_t, std::uint64_t>;

  void transform(Stream& stream, DeviceChunk<const Value> in, DeviceChunk<std::uint8_t> low,
                 DeviceChunk<std::uint64_t> squares) const {
    EXPECT_EQ(low.first, in.first);
    EXPECT_EQ(squares.first, in.first);
    EXPECT_EQ(squares.size, in.size);
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> products;
    for (const Value value : on_host(stream, in)) {
      bytes.push_back(static_cast<std::uint8_t>(value));
      products.push_back(std::uint64_t{value} * value);
    }
    to_device(stream, low.data, std::span<const std::uint8_t>(bytes));
    to_device(stream, squares.data, std::span<const std::uint64_t>(products));
  }
};

/// The same, and counts the values.
struct CountingLowAndSquare : LowAndSquare {
  using Partial = std::uint64_t;
  std::uint64_t most = ~std::uint64_t{0};

  void transform(Stream& stream, DeviceChunk<const Value> in, DeviceChunk<std::uint8_t> low,
                 DeviceChunk<std::uint64_t> squares, Partial& count) const {
    LowAndSquare::transform(stream, in, low, squares);
    count += in.size;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
  void check(const Partial& total) const {
    if (total > most) throw Error(ErrorKind::bad_input, "too many");
  }
};

/// Of each row the sum, and the row twice.
struct SumAndTwice {
  using Input = Row<Value>;
  using Output = std::tuple<Value, Row<Value>>;

  std::array<std::size_t, 2> output_columns(std::size_t columns) const { return {1, 2 * columns}; }
  void transform(Stream& stream, DeviceRows<const Value> in, DeviceChunk<Value> sums,
                 DeviceRows<Value> twice) const {
    EXPECT_EQ(twice.columns, 2 * in.columns);
    EXPECT_EQ(twice.rows(), in.rows());
    const std::vector<Value> values = on_host(stream, in);
    std::vector<Value> totals(in.rows()), rows;
    for (std::size_t row = 0; row < in.rows(); ++row) {
      for (std::size_t i = 0; i < 2 * in.columns; ++i) {
        rows.push_back(values[row * in.columns + i % in.columns]);
        if (i < in.columns) totals[row] += rows.back();
      }
    }
    to_device(stream, sums.data, std::span<const Value>(totals));
    to_device(stream, twice.data, std::span<const Value>(rows));
  }
};

static_assert(MapOperator<LowAndSquare> && GatheringMapOperator<CountingLowAndSquare>);
static_assert(!MapOperator<int> && !GatheringMapOperator<LowAndSquare>);

class OutputsTest : public testing::TestWithParam<Machine> {
 protected:
  static constexpr std::size_t count_ = 400'002;  // whole rows of three

  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    for (std::size_t i = 0; i < count_; ++i) values_.push_back(static_cast<Value>(i * 40503));
    test::write_file(dir_.path() / "values.u32", values_);
  }

  Source source() const { return open(dir_.path() / "values.u32"); }
  Target target(const std::string& name, ElementType type) const {
    return {.path = dir_.path() / name, .type = {type}, .replace = true};
  }

  template <class T>
  std::string bytes_of(const std::vector<T>& values) const {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }

  void expect_low_and_squares() const {
    std::vector<std::uint8_t> low;
    std::vector<std::uint64_t> squares;
    for (const Value value : values_) {
      low.push_back(static_cast<std::uint8_t>(value));
      squares.push_back(std::uint64_t{value} * value);
    }
    EXPECT_TRUE(test::read_whole(dir_.path() / "low.u8") == bytes_of(low));
    EXPECT_TRUE(test::read_whole(dir_.path() / "squares.npy").substr(4096) == bytes_of(squares));
  }

  std::array<Target, 2> targets() const {
    return {target("low.u8", ElementType::u1), target("squares.npy", ElementType::u8)};
  }

  test::TempDir dir_;
  std::vector<Value> values_;
};

INSTANTIATE_TEST_SUITE_P(Machines, OutputsTest, test::all_machines, test::machine_name);

TEST_P(OutputsTest, EachHasAFile) {
  const test::HeldInPageCache held(dir_.path() / "values.u32");
  for (const std::size_t chunk : {std::size_t{0}, std::size_t{262144}}) {
    for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
      for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
        Coordinator coordinator(
            test::make_device(GetParam()),
            {.chunk_bytes = chunk, .streams = 2, .engine = engine, .direct = direct});
        const Stats stats = map(coordinator, LowAndSquare{}, source(), targets()).stats;
        expect_low_and_squares();
        EXPECT_EQ(stats.outcome.bytes_written, count_ * 9);
      }
    }
  }
}

TEST_P(OutputsTest, MayBeOnSeveralFileSystems) {
  const test::TempDir memory("/dev/shm");
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 262144});
  std::array<Target, 2> two = targets();
  two[1].path = memory.path() / "squares.npy";
  map(coordinator, LowAndSquare{}, source(), two);
  std::filesystem::copy_file(two[1].path, dir_.path() / "squares.npy");
  expect_low_and_squares();
}

TEST_P(OutputsTest, GatherOnTheWay) {
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 262144});
  EXPECT_EQ(map(coordinator, CountingLowAndSquare{}, source(), targets()).value, count_);
  expect_low_and_squares();
}

TEST_P(OutputsTest, MayBeRowsOfTheirOwnLengths) {
  constexpr std::size_t columns = 3;
  TargetFile file({.path = dir_.path() / "rows.npy",
                   .type = {ElementType::u4},
                   .shape = {count_ / columns, columns}},
                  count_, {});
  file.write(file.data_offset(), std::as_bytes(std::span(values_)));
  file.commit();
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 262144});
  const std::array two{target("sums.u32", ElementType::u4), target("twice.npy", ElementType::u4)};
  map(coordinator, SumAndTwice{}, open(dir_.path() / "rows.npy"), two);
  std::vector<Value> sums, twice;
  for (std::size_t i = 0; i < count_; i += columns) {
    sums.push_back(values_[i] + values_[i + 1] + values_[i + 2]);
    for (std::size_t k = 0; k < 2 * columns; ++k) twice.push_back(values_[i + k % columns]);
  }
  EXPECT_TRUE(test::read_whole(dir_.path() / "sums.u32") == bytes_of(sums));
  EXPECT_TRUE(test::read_whole(dir_.path() / "twice.npy").substr(4096) == bytes_of(twice));
  const Source made = open(dir_.path() / "twice.npy");
  EXPECT_EQ(std::vector(made.shape().begin(), made.shape().end()),
            (std::vector<std::uint64_t>{count_ / columns, 2 * columns}));
}

TEST_P(OutputsTest, AppearTogetherOrNotAtAll) {
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 262144});
  const auto error_of = [&](const auto& op, const std::array<Target, 2>& two) -> std::string {
    try {
      map(coordinator, op, source(), two);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  CountingLowAndSquare few;
  few.most = 7;
  EXPECT_EQ(error_of(few, targets()), "too many");
  std::array<Target, 2> wrong = targets();
  wrong[1].type->element = ElementType::f8;
  EXPECT_EQ(error_of(LowAndSquare{}, wrong),
            wrong[1].path.string() + ": the operator makes uint64, the target is to hold float64");
  EXPECT_EQ(dir_.names(), std::vector<std::string>{"values.u32"});
}

}  // namespace
}  // namespace ooc::detail
