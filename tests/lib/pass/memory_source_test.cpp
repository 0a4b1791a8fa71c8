// Tests passes over arrays in memory: from_memory().

#include <ooc/chunks.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using Value = std::uint32_t;

template <class From>
concept IsTaken = requires(From&& from) {
  from_memory(std::forward<From>(from));
};
static_assert(IsTaken<std::vector<float>&> && IsTaken<std::span<const float>>);
static_assert(IsTaken<const std::array<double, 3>&> && !IsTaken<std::vector<float>>);

struct ValueSum {
  using Input = Value;
  using Partial = std::uint64_t;
  static constexpr std::string_view partial_name = "sum";
  static constexpr std::size_t partition_records = 1024;
  static constexpr bool same_bits_everywhere = true;
  void consume(Stream& stream, DeviceSpan<const Value> in, Partial& sum) const {
    for (const Value value : on_host(stream, in)) sum += value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// The sum of products of two arrays.
struct Dot {
  using Input = std::tuple<Value, Value>;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceSpan<const Value> a, DeviceSpan<const Value> b,
               Partial& sum) const {
    const std::vector<Value> left = on_host(stream, a), right = on_host(stream, b);
    for (std::size_t i = 0; i < left.size(); ++i) sum += std::uint64_t{left[i]} * right[i];
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct RowWidths {
  using Input = Row<Value>;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 4096;
  void consume(Stream&, DeviceRows<const Value> in, Partial& sum) const {
    EXPECT_EQ(in.columns, 3u);
    sum += in.rows();
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct Pair {
  std::int16_t a;
  double b;
  static constexpr auto fields = ooc::fields(field("a", &Pair::a), field("b", &Pair::b));
};
struct SumOfPairs {
  using Input = Pair;
  using Partial = double;
  void consume(Stream& stream, DeviceSpan<const Pair> in, Partial& sum) const {
    for (const Pair& pair : on_host(stream, in)) sum += pair.a * pair.b;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct CopyValues {
  using Input = Value;
  using Output = Value;
  void transform(Stream& stream, DeviceSpan<const Value> in, DeviceSpan<Value> out) const {
    stream.copy(out.data, in.data, in.size * sizeof(Value));
  }
};

class MemorySourceTest : public testing::TestWithParam<Machine> {
 protected:
  MemorySourceTest() { std::iota(values_.begin(), values_.end(), Value{5}); }

  static std::uint64_t sum_of(std::span<const Value> values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  }

  test::TempDir dir_;
  std::vector<Value> values_ = std::vector<Value>(300'000);
};

TEST_P(MemorySourceTest, IsReadByFolds) {
  OOC_SKIP_WITHOUT_MACHINE(GetParam());
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::uring, EngineKind::threads}) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      Coordinator coordinator(test::make_device(GetParam()),
                              {.chunk_bytes = 65536, .engine = engine, .direct = direct});
      EXPECT_EQ(fold(coordinator, ValueSum{}, from_memory(values_)).value, sum_of(values_));
      EXPECT_EQ(fold(coordinator, ValueSum{}, from_memory(std::span(values_).first(7))).value,
                sum_of(std::span(values_).first(7)));
    }
  }
}

TEST_P(MemorySourceTest, HasSectionsShardsAndRows) {
  OOC_SKIP_WITHOUT_MACHINE(GetParam());
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 65536});
  const Source whole = from_memory(values_, 3);
  EXPECT_EQ(whole.rows(), 100'000u);
  EXPECT_EQ(whole.elements(), 300'000u);
  EXPECT_EQ(fold(coordinator, RowWidths{}, whole).value, 100'000u);
  EXPECT_EQ(fold(coordinator, RowWidths{}, section_rows(whole, 0, 65'536)).value, 65'536u);
  const Source flat = from_memory(values_);
  std::optional<PartialResult<std::uint64_t>> all;
  for (const std::uint64_t i : {1, 0, 2}) {
    auto part =
        collect(coordinator, ValueSum{}, shard(flat, i, 3, ValueSum::partition_records)).value;
    if (all) {
      all->merge(std::move(part));
    } else {
      all.emplace(std::move(part));
    }
  }
  EXPECT_EQ(std::move(*all).result(), sum_of(values_));
}

TEST_P(MemorySourceTest, IsZippedWithAFile) {
  OOC_SKIP_WITHOUT_MACHINE(GetParam());
  const std::filesystem::path path = dir_.path() / "twos.u32";
  test::write_file(path, std::vector<Value>(values_.size(), 2));
  const Source memory = from_memory(values_), file = open(path);
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::uring}) {
    Coordinator coordinator(test::make_device(GetParam()), {.engine = engine});
    EXPECT_EQ(fold(coordinator, Dot{}, zip(memory, file)).value, 2 * sum_of(values_));
    EXPECT_EQ(fold(coordinator, Dot{}, zip(file, memory)).value, 2 * sum_of(values_));
  }
}

TEST_P(MemorySourceTest, IsReadByMapsChunksAndResidents) {
  OOC_SKIP_WITHOUT_MACHINE(GetParam());
  Coordinator coordinator(test::make_device(GetParam()), {.chunk_bytes = 65536});
  const Source memory = from_memory(values_);
  const auto [records, stats] = map(coordinator, CopyValues{}, memory, {dir_.path() / "copy.u32"});
  EXPECT_EQ(records, values_.size());
  EXPECT_EQ(fold(coordinator, ValueSum{}, open(dir_.path() / "copy.u32")).value, sum_of(values_));
  const Resident kept(coordinator, memory, {.device_bytes = 1 << 19});
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(fold(coordinator, ValueSum{}, kept).value, sum_of(values_));
  }
  Chunks chunks(coordinator, memory, {.rows = 1000});
  std::size_t rows = 0;
  while (const auto chunk = chunks.next()) rows += chunk->count();
  EXPECT_EQ(rows, values_.size());
}

TEST_P(MemorySourceTest, HasStructs) {
  OOC_SKIP_WITHOUT_MACHINE(GetParam());
  const std::array<Pair, 2> pairs{{{2, 0.5}, {-4, 1.5}}};
  Coordinator coordinator(test::make_device(GetParam()));
  EXPECT_EQ(fold(coordinator, SumOfPairs{}, from_memory(pairs)).value, -5.0);
}

INSTANTIATE_TEST_SUITE_P(, MemorySourceTest, test::all_machines,
                         [](const auto& machine) { return test::machine_name(machine); });

TEST(MemorySource, IsSharedByDevices) {
  std::vector<Value> values(500'000, 3);
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_device(DeviceKind::cpu));
  devices.push_back(make_device(DeviceKind::cpu));
  Coordinator coordinator(std::move(devices));
  EXPECT_EQ(fold(coordinator, ValueSum{}, from_memory(values)).value, 1'500'000u);
}

TEST(MemorySource, SurvivesACheckpoint) {
  const test::TempDir dir;
  const std::vector<Value> values(10'000, 7);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  const Checkpoint checkpoint{.file = dir.path() / "sum.ckpt"};
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(fold(coordinator, ValueSum{}, from_memory(values), {.checkpoint = checkpoint}).value,
              70'000u);
  }
  const std::vector<Value> others(10'000, 8);
  EXPECT_THROW(fold(coordinator, ValueSum{}, from_memory(others), {.checkpoint = checkpoint}),
               Error);
}

TEST(MemorySource, HasWholeRowsOfOneType) {
  const std::vector<float> values(10);
  test::expect_error(ErrorKind::usage,
                     "an array in memory: 40 bytes are not whole rows of 3 float32 elements",
                     [&] { from_memory(values, 3); });
  EXPECT_THROW(from_memory(values, 0), Error);
  Coordinator coordinator(make_device(DeviceKind::cpu));
  test::expect_error(ErrorKind::bad_input,
                     "an array in memory: holds float32, the operator takes uint32",
                     [&] { fold(coordinator, ValueSum{}, from_memory(values)); });
  EXPECT_EQ(fold(coordinator, ValueSum{}, from_memory(std::span<const Value>())).value, 0u);
}

TEST(MemorySource, RowsAreCountedAndCut) {
  const std::vector<std::uint16_t> values(30);
  Source whole = from_memory(values);
  EXPECT_EQ(whole.elements(), 30u);
  EXPECT_EQ(whole.rows(), 30u);
  whole.set_shape({10, 3});
  EXPECT_EQ(whole.elements(), 30u);
  EXPECT_EQ(whole.rows(), 10u);
  const Source part = section_rows(whole, 2, 4);
  EXPECT_EQ(part.rows(), 4u);
  EXPECT_EQ(part.elements(), 12u);
  EXPECT_EQ(part.bytes_before(), 2u * 3 * 2);
  EXPECT_EQ(section_rows(part, 1, 1).bytes_before(), 3u * 3 * 2);
  test::expect_error(ErrorKind::usage, "has 10 rows of 3 elements, not 3 from index 8 on",
                     [&] { section_rows(whole, 8, 3); });
  const Source last = shard_rows(whole, 2, 3, 2);  // of 5 partitions of two rows
  EXPECT_EQ(last.rows(), 4u);
  EXPECT_EQ(last.bytes_before(), 6u * 3 * 2);
  EXPECT_EQ(shard_rows(whole, 0, 1).rows(), 10u);
  test::expect_error(ErrorKind::usage, "there is no shard 3 of 3",
                     [&] { shard_rows(whole, 3, 3); });
  EXPECT_THROW(shard_rows(whole, 0, 1, ~std::uint64_t{0}), Error);
  whole.set_columns({});
  EXPECT_FALSE(whole.rows().has_value());
  test::expect_error(ErrorKind::usage, "has no rows of one length",
                     [&] { section_rows(whole, 0, 1); });
  test::expect_error(ErrorKind::usage, "has no rows of one length",
                     [&] { shard_rows(whole, 0, 1); });
}

TEST(MemorySource, HasNoDirectReads) {
  const std::vector<Value> values(100'000);
  Coordinator coordinator(make_device(DeviceKind::cpu), {.direct = DirectIo::yes});
  test::expect_error(ErrorKind::usage, "direct reads are not possible: it is in memory",
                     [&] { fold(coordinator, ValueSum{}, from_memory(values)); });
}

}  // namespace
}  // namespace ooc::detail
