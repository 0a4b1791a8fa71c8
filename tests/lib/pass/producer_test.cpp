// Tests passes over what a producer makes.

#include <ooc/detail/dataset/producer.hpp>
#include <ooc/error.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/operators.hpp"
#include "support/random.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::Machine;
using test::on_host;
using test::to_device;
using Value = std::uint32_t;

/// Gives values in pieces of random sizes.
class Pieces final : public Producer {
 public:
  explicit Pieces(std::span<const Value> values) : bytes_(std::as_bytes(values)) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    const std::size_t most = std::min(room.size(), bytes_.size());
    const std::size_t count = most == 0 ? 0 : random_.between(1, most);
    if (count != 0) std::memcpy(room.data(), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
  }
  std::string name() const override { return "pieces"; }

 private:
  std::span<const std::byte> bytes_;
  test::Random random_{3};
};

/// Gives ones until it is stopped, or until it breaks.
class Endless final : public Producer {
 public:
  explicit Endless(std::size_t calls = ~std::size_t{0}) : calls_left_(calls) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    if (stop.stop_requested()) return 0;
    if (calls_left_-- == 0) throw std::runtime_error("the generator is broken");
    std::ranges::fill(room, std::byte{1});
    return room.size();
  }

 private:
  std::size_t calls_left_;
};

/// The sum of each value times its index.
struct WeightedValues {
  using Input = Value;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 4096;

  void consume(Stream& stream, DeviceChunk<const Value> in, Partial& sum) const {
    std::uint64_t index = in.first;
    for (const Value value : on_host(stream, in)) sum += ++index * value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct InLargePartitions : WeightedValues {
  static constexpr std::size_t partition_records = 1 << 19;
};

struct Double {
  using Input = Value;
  using Output = std::uint64_t;
  void transform(Stream& stream, DeviceChunk<const Value> in, DeviceSpan<std::uint64_t> out) const {
    std::vector<std::uint64_t> doubled;
    for (const Value value : on_host(stream, in)) doubled.push_back(2 * std::uint64_t{value});
    to_device(stream, out.data, std::span<const std::uint64_t>(doubled));
  }
};

struct KeepOdd {
  using Input = Value;
  using Output = Value;
  void select(Stream& stream, DeviceChunk<const Value> in, DeviceSpan<Value> out,
              std::uint64_t* kept) const {
    std::vector<Value> odd = on_host(stream, in);
    std::erase_if(odd, [](Value value) { return value % 2 == 0; });
    to_device(stream, out.data, std::span<const Value>(odd));
    to_device(stream, kept, std::uint64_t{odd.size()});
  }
};

struct RowSum {
  using Input = Row<Value>;
  using Partial = std::uint64_t;
  void consume(Stream& stream, DeviceRows<const Value> in, Partial& sum) const {
    EXPECT_EQ(in.columns, 7u);
    for (const Value value : on_host(stream, in)) sum += value;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct WithNeighbours : WeightedValues {
  std::size_t before() const { return 1; }
};

class ProducerTest : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    for (std::size_t i = 0; i < 700'007; ++i)
      values_.push_back(static_cast<Value>(i * 7919 % 1009));
  }

  Coordinator coordinator(std::size_t streams = 2) const {
    return Coordinator(test::make_device(GetParam()), {.chunk_bytes = 262144, .streams = streams});
  }
  Source pieces(std::size_t count, std::span<const std::uint64_t> row_shape = {}) const {
    return produced(std::make_unique<Pieces>(std::span(values_).first(count)), {ElementType::u4},
                    row_shape);
  }
  Target target(const std::string& name, ElementType type) const {
    return {.path = dir_.path() / name, .type = {type}, .replace = true};
  }

  test::TempDir dir_;
  std::vector<Value> values_;
};

INSTANTIATE_TEST_SUITE_P(Machines, ProducerTest, test::all_machines, test::machine_name);

TEST_P(ProducerTest, IsFoldedAsAFileIs) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{5}, std::size_t{131072}, values_.size()}) {
    for (const std::size_t streams : {1u, 3u}) {
      std::uint64_t expected = 0;
      for (std::size_t i = 0; i < count; ++i) expected += (i + 1) * values_[i];
      Coordinator folds = coordinator(streams);
      const Source source = pieces(count);
      const auto [sum, stats] = fold(folds, WeightedValues{}, source, {.checksum = true});
      EXPECT_EQ(sum, expected) << count;
      EXPECT_FALSE(stats.outcome.partial);
      EXPECT_EQ(stats.outcome.bytes, count * sizeof(Value));
      EXPECT_EQ(source.bytes(), count * sizeof(Value));
      test::write_file(
          dir_.path() / "same.u32",
          std::vector(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count)));
      const Source file = open(dir_.path() / "same.u32");
      EXPECT_EQ(stats.outcome.checksum,
                fold(folds, WeightedValues{}, file, {.checksum = true}).stats.outcome.checksum);
    }
  }
}

TEST_P(ProducerTest, IsMappedAndFiltered) {
  Coordinator passes = coordinator();
  std::vector<std::uint64_t> doubled;
  std::vector<Value> odd;
  for (const Value value : values_) {
    doubled.push_back(2 * std::uint64_t{value});
    if (value % 2 != 0) odd.push_back(value);
  }
  map(passes, Double{}, pieces(values_.size()), target("doubled.npy", ElementType::u8));
  EXPECT_TRUE(test::read_whole(dir_.path() / "doubled.npy").substr(4096) ==
              std::string(reinterpret_cast<const char*>(doubled.data()), doubled.size() * 8));
  EXPECT_EQ(open(dir_.path() / "doubled.npy").bytes(), doubled.size() * 8);
  const auto [found, stats] =
      filter(passes, KeepOdd{}, pieces(values_.size()), target("odd.u32", ElementType::u4));
  EXPECT_EQ(found.seen, values_.size());
  EXPECT_EQ(found.kept, odd.size());
  EXPECT_TRUE(test::read_whole(dir_.path() / "odd.u32") ==
              std::string(reinterpret_cast<const char*>(odd.data()), odd.size() * 4));
}

TEST_P(ProducerTest, HasRows) {
  Coordinator folds = coordinator();
  const std::array<std::uint64_t, 1> row_shape{7};
  const Source rows = pieces(values_.size(), row_shape);  // 100,001 rows
  std::uint64_t expected = 0;
  for (const Value value : values_) expected += value;
  EXPECT_EQ(fold(folds, RowSum{}, rows).value, expected);
  const Source cut = pieces(values_.size() - 1, row_shape);
  try {
    fold(folds, RowSum{}, cut);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_STREQ(error.what(),
                 "pieces: 2800024 bytes are not a whole number of records of 28 bytes");
  }
}

TEST_P(ProducerTest, IsReadOnce) {
  Coordinator folds = coordinator();
  const Source source = pieces(100);
  fold(folds, WeightedValues{}, source);
  try {
    fold(folds, WeightedValues{}, source);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(), "pieces: was read already");
  }
}

TEST_P(ProducerTest, RefusesWhatReadsItTwice) {
  Coordinator folds = coordinator();
  EXPECT_THROW(fold(folds, WithNeighbours{}, pieces(100)), Error);
  const Source first = pieces(100), second = pieces(100);
  struct Both {
    using Input = std::tuple<Value, Value>;
    using Partial = std::uint64_t;
    void consume(Stream&, DeviceChunk<const Value>, DeviceChunk<const Value>, Partial&) const {}
    void merge(Partial&, const Partial&) const {}
  };
  EXPECT_THROW(fold(folds, Both{}, zip(first, second)), Error);
}

// Steps of an operator with large partitions are not cut into pieces, as those of files are.
TEST_P(ProducerTest, IsFoldedInPartitionsOfAnySize) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) expected += (i + 1) * values_[i];
  Coordinator folds = coordinator();
  EXPECT_EQ(fold(folds, InLargePartitions{}, pieces(values_.size())).value, expected);
}

TEST_P(ProducerTest, CanBeReadAfterAPassThatDidNotBegin) {
  const Source source = pieces(100);
  Coordinator direct(test::make_device(GetParam()), {.direct = DirectIo::yes});
  EXPECT_THROW(fold(direct, WeightedValues{}, source), Error);
  Coordinator folds = coordinator();
  EXPECT_EQ(fold(folds, WeightedValues{}, source).stats.outcome.bytes, 400u);
}

TEST_P(ProducerTest, HasWholeElementsAlsoAsBytes) {
  const Source source =
      produced(std::make_unique<Pieces>(std::span(values_).first(1)), {ElementType::u8});
  Coordinator folds = coordinator();
  EXPECT_THROW(fold(folds, test::Count<std::byte>{}, source), Error);
}

TEST_P(ProducerTest, CanBeStopped) {
  Coordinator folds = coordinator();
  std::stop_source stop;
  const PassOptions wanted{.stop = stop.get_token(),
                           .progress =
                               [&](const Progress& progress) {
                                 if (progress.bytes > 1 << 22) stop.request_stop();
                               },
                           .keep_partial = true};
  const Source endless = produced(std::make_unique<Endless>(), {ElementType::u1});
  const auto [count, stats] = fold(folds, test::Count<std::uint8_t>{}, endless, wanted);
  EXPECT_TRUE(stats.outcome.partial);
  EXPECT_EQ(count, stats.outcome.bytes);
  EXPECT_EQ(count, stats.outcome.records);
  EXPECT_GT(count, 0u);
}

TEST_P(ProducerTest, MayFail) {
  Coordinator folds = coordinator();
  for (const std::size_t calls : {0u, 1u, 30u}) {
    const Source broken = produced(std::make_unique<Endless>(calls), {ElementType::u1});
    EXPECT_THROW(map(folds, test::Copy{}, broken, target("copy.u8", ElementType::u1)),
                 std::runtime_error);
    EXPECT_EQ(dir_.names(), std::vector<std::string>{});
  }
  EXPECT_EQ(fold(folds, WeightedValues{}, pieces(1)).value, values_[0]);
}

// The pass fails while the producer has more to give, or nothing.
TEST_P(ProducerTest, EndsWhenAnOperatorFails) {
  Coordinator folds = coordinator();
  const auto fail = [] { throw std::runtime_error("enough"); };
  const Source endless = produced(std::make_unique<Endless>(), {ElementType::u1});
  EXPECT_THROW(fold(folds, test::Count<std::uint8_t>{test::at(1 << 20, fail)}, endless),
               std::runtime_error);
}

}  // namespace
}  // namespace ooc::detail
