// Tests Chunks: loops of the caller over the chunks of a source.

#include <ooc/chunks.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <latch>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/chunks_fixture.hpp"
#include "support/data_file.hpp"
#include "support/host_operators.hpp"
#include "support/machines.hpp"
#include "support/values_file.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::Machine;
using test::numbers;
using test::on_host;

class ChunksTest : public test::ChunksFixture {};

static_assert(!std::is_constructible_v<Chunks, Coordinator&, Source>);
static_assert(!std::is_copy_constructible_v<Lease> && std::is_nothrow_move_constructible_v<Lease>);

/// Gives values, as many as there is room for.
class Values final : public Producer {
 public:
  explicit Values(std::span<const std::uint32_t> values) : bytes_(std::as_bytes(values)) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    const std::size_t count = std::min(room.size(), bytes_.size());
    if (count != 0) std::memcpy(room.data(), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
  }
  std::string name() const override { return "values"; }

 private:
  std::span<const std::byte> bytes_;
};

// The leases die before any work of the stream has been waited for. On a device that works late,
// nothing of it has run by then.
TEST_P(ChunksTest, GiveAllRowsInOrderToWorkThatEndsLater) {
  constexpr std::size_t rows = 100'003, columns = 3;
  for (const bool swapped : {false, true}) {
    std::vector<std::uint32_t> stored = numbers(rows * columns);
    if (swapped) {
      for (std::uint32_t& value : stored) value = __builtin_bswap32(value);
    }
    Source source = file_.source_of(stored, swapped);
    source.set_shape({rows, columns});
    std::vector<std::uint32_t> copied(rows * columns);
    Chunks chunks(*used_, source, {.rows = 1000});
    std::size_t next = 0, count = 0;
    while (const std::optional<Lease> chunk = chunks.next(*stream_)) {
      EXPECT_EQ(chunk->first(), next);
      EXPECT_EQ(chunk->count(), std::min<std::size_t>(1000, rows - next));
      const auto in = chunk->rows<std::uint32_t>();
      ASSERT_EQ(in.rows(), chunk->count());
      ASSERT_EQ(in.columns, columns);
      stream_->copy(copied.data() + next * columns, in.data, in.size * sizeof(std::uint32_t));
      next += chunk->count();
      ++count;
    }
    stream_->synchronize();
    EXPECT_EQ(count, 101u);
    EXPECT_EQ(chunks.size(), 101u);
    EXPECT_EQ(copied, numbers(rows * columns));
    EXPECT_EQ(chunks.stats().outcome.bytes, rows * columns * sizeof(std::uint32_t));
    EXPECT_EQ(chunks.stats().layout.chunks, 101u);
    EXPECT_FALSE(chunks.next(*stream_));  // and again
  }
}

TEST_P(ChunksTest, ChooseTheirSizeIfNoneIsGiven) {
  const Source source = file_.source_of(numbers(3'000'000));
  std::uint64_t sum = 0;
  Chunks chunks(*used_, source);
  while (const auto chunk = chunks.next(*stream_)) {
    for (const std::uint32_t value :
         on_host<const std::uint32_t>(*stream_, chunk->rows<std::uint32_t>())) {
      sum += value;
    }
  }
  EXPECT_EQ(sum, std::uint64_t{3'000'000} * 2'999'999 / 2 + 7ull * 3'000'000);
}

TEST_P(ChunksTest, GiveEveryChunkToOneShardInTheOrderOfTheSeed) {
  const Source source = rows_of(1'050, 2);
  const auto firsts = [&](ChunksOptions options) {
    std::vector<std::uint64_t> order;
    options.rows = 100;
    Chunks chunks(*used_, source, options);
    while (const auto chunk = chunks.next(*stream_)) {
      order.push_back(chunk->first());
      const auto values = on_host<const std::uint32_t>(*stream_, chunk->rows<std::uint32_t>());
      EXPECT_EQ(values.front(), 7 + 2 * chunk->first());
      EXPECT_EQ(chunk->count(), chunk->first() == 1'000 ? 50u : 100u);
    }
    EXPECT_FALSE(chunks.stats().outcome.partial);
    return order;
  };
  const auto all = firsts({.shuffle_seed = 3});
  EXPECT_EQ(all.size(), 11u);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 11u);
  EXPECT_FALSE(std::ranges::is_sorted(all));
  EXPECT_NE(all, firsts({.shuffle_seed = 4}));
  for (std::size_t shard = 0; shard < 3; ++shard) {
    const auto part = firsts({.shuffle_seed = 3, .shard = shard, .shards = 3});
    ASSERT_EQ(part.size(), shard == 2 ? 3u : 4u);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], all[shard + 3 * i]);
  }
  EXPECT_EQ(firsts({.shard = 1, .shards = 4}), (std::vector<std::uint64_t>{100, 500, 900}));
  EXPECT_TRUE(firsts({.shard = 11, .shards = 12}).empty());
  for (const std::size_t skip : {1, 4, 11, 12}) {
    const auto later = firsts({.shuffle_seed = 3, .skip = skip});
    EXPECT_TRUE(std::ranges::equal(later, std::span(all).subspan(std::min<std::size_t>(skip, 11))));
  }
  EXPECT_EQ(firsts({.skip = 9}), (std::vector<std::uint64_t>{900, 1'000}));
  EXPECT_EQ(firsts({.shard = 1, .shards = 4, .skip = 2}), (std::vector<std::uint64_t>{900}));
}

TEST_P(ChunksTest, GiveTheSameRowsOfSourcesThatAreZipped) {
  const Source table = rows_of(5'000, 3);
  const test::ValuesFile labels;
  const Source label = labels.source_of(test::random_bits<std::uint8_t>(5'000));
  const auto expected = test::random_bits<std::uint8_t>(5'000);
  const Zipped<2> both = zip(table, label);
  Chunks chunks(*used_, both, {.rows = 64, .shuffle_seed = 1});
  std::size_t rows = 0;
  while (const auto chunk = chunks.next(*stream_)) {
    const auto values = on_host<const std::uint32_t>(*stream_, chunk->rows<std::uint32_t>(0));
    const auto marks = on_host<const std::uint8_t>(*stream_, chunk->rows<std::uint8_t>(1));
    ASSERT_EQ(values.size(), 3 * marks.size());
    EXPECT_EQ(values.front(), 7 + 3 * chunk->first());
    EXPECT_TRUE(
        std::ranges::equal(marks, std::span(expected).subspan(chunk->first(), chunk->count())));
    rows += chunk->count();
    expect_error(ErrorKind::usage, "no source 2", [&] { chunk->bytes(2); });
  }
  EXPECT_EQ(rows, 5'000u);
}

TEST_P(ChunksTest, SeveralCanBeHeldAndGivenBackInAnyOrder) {
  const Source source = rows_of(1'000, 1);
  Chunks chunks(*used_, source, {.rows = 10});
  std::vector<Lease> held;
  const auto take_one = [&] { held.push_back(*chunks.next(*stream_)); };
  const auto take_all = [&] {
    for (;;) take_one();
  };
  expect_error(ErrorKind::usage, "are lent", take_all);
  EXPECT_GE(held.size(), used_->streams());
  std::uint64_t next = held.size();
  for (std::uint64_t i = 0; i < next; ++i) EXPECT_EQ(held[i].first(), 10 * i);
  for (; next < 100; ++next) {
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(next % held.size()));
    take_one();
    EXPECT_EQ(held.back().first(), 10 * next);
  }
  held.clear();
  EXPECT_FALSE(chunks.next(*stream_));
  EXPECT_FALSE(chunks.stats().outcome.partial);
}

struct Triple {  // whose size is no power of two
  std::uint32_t left, middle, right;
  static constexpr auto fields =
      ooc::fields(field("left", &Triple::left), field("middle", &Triple::middle),
                  field("right", &Triple::right));
};

// The pass goes on beyond any number of chunks, whether it reads a file or a producer.
TEST_P(ChunksTest, TheFirstOneCanBeHeldToTheEnd) {
  const std::vector<std::uint32_t> values = numbers(200'000);
  const Source of_file = file_.source_of(values);
  const Source of_producer = produced(std::make_unique<Values>(values), {ElementType::u4});
  for (const Source* source : {&of_file, &of_producer}) {
    Chunks chunks(*used_, *source, {.rows = 16});
    const std::optional<Lease> first = chunks.next(*stream_);
    std::size_t count = 1;
    while (const auto chunk = chunks.next(*stream_)) {
      EXPECT_EQ(chunk->first(), 16 * count);
      ++count;
    }
    EXPECT_EQ(count, 12'500u);
    const auto rows = on_host<const std::uint32_t>(*stream_, first->rows<std::uint32_t>());
    EXPECT_TRUE(std::ranges::equal(rows, std::span(values).first(16)));
  }
}

TEST_P(ChunksTest, GiveStructsThatLieAsInTheFile) {
  const std::vector<std::uint32_t> values = numbers(30'000);
  test::write_file(file_.path(), values);
  const Source triples = open(file_.path(), {.type = parse_dtype("{left:u4,middle:u4,right:u4}")});
  std::size_t next = 0;
  {
    Chunks chunks(*used_, triples, {.rows = 100});
    while (const auto chunk = chunks.next(*stream_)) {
      for (const Triple& triple : on_host<const Triple>(*stream_, chunk->rows<Triple>())) {
        EXPECT_EQ(triple.left, values[next++]);
        EXPECT_EQ(triple.middle, values[next++]);
        EXPECT_EQ(triple.right, values[next++]);
      }
      expect_error(ErrorKind::usage, "holds {left:<u4,middle:<u4,right:<u4}, not uint32",
                   [&] { chunk->rows<std::uint32_t>(); });
    }
    EXPECT_EQ(next, values.size());
  }
  const Source turned = open(file_.path(), {.type = parse_dtype("{right:u4,middle:u4,left:u4}")});
  Chunks others(*used_, turned);
  const auto chunk = others.next(*stream_);
  expect_error(ErrorKind::usage, "not {left:<u4,middle:<u4,right:<u4}",
               [&] { chunk->rows<Triple>(); });
  EXPECT_EQ(chunk->bytes().size % sizeof(Triple), 0u);
}

TEST_P(ChunksTest, TheLastOnesMayBeHeldAtTheEnd) {
  const Source source = rows_of(20, 1);
  Chunks chunks(*used_, source, {.rows = 20});
  std::optional<Lease> only = chunks.next(*stream_);
  ASSERT_TRUE(only);
  EXPECT_FALSE(chunks.next(*stream_));
  expect_error(ErrorKind::usage, "no statistics yet", [&] { chunks.stats(); });
  only.reset();
  EXPECT_FALSE(chunks.next(*stream_));
  EXPECT_EQ(chunks.stats().outcome.bytes, 80u);
}

TEST_P(ChunksTest, CanBeLeftAtAnyTime) {
  const Source source = rows_of(100'000, 1);
  for (int taken = 0; taken < 5; ++taken) {
    Chunks chunks(*used_, source, {.rows = 100});
    for (int i = 0; i < taken; ++i) EXPECT_TRUE(chunks.next(*stream_));
    expect_error(ErrorKind::usage, "busy", [&] { Chunks(*used_, source); });
  }
  Chunks again(*used_, source, {.rows = 50'000});
  while (again.next(*stream_)) {
  }
  EXPECT_EQ(again.stats().outcome.bytes, 400'000u);
}

TEST_P(ChunksTest, HaveTheChecksumOfTheSourceIfTheyAreAllOfIt) {
  const Source source = rows_of(70'001, 1);
  Chunks chunks(*used_, source, {.rows = 999, .pass = {.checksum = true}});
  while (chunks.next(*stream_)) {
  }
  struct Nothing {
    using Input = std::uint32_t;
    using Partial = int;
    void consume(Stream&, DeviceChunk<const std::uint32_t>, Partial&) const {}
    void merge(Partial&, const Partial&) const {}
  };
  Coordinator other(test::make_device(Machine::cpu));
  const auto expected = fold(other, Nothing{}, source, {.checksum = true});
  EXPECT_EQ(chunks.stats().outcome.checksum, expected.stats.outcome.checksum);
  EXPECT_TRUE(expected.stats.outcome.checksum);
}

INSTANTIATE_TEST_SUITE_P(Machines, ChunksTest, test::all_machines, test::machine_name);

// The null stream is the caller's own thread on the CPU, and CUDA's default stream on a GPU.
TEST(Chunks, NeedNoStreamOnTheCpu) {
  const test::ValuesFile file;
  const Source source = file.source_of(numbers(100'000));
  Coordinator coordinator(make_device(DeviceKind::cpu));
  std::uint64_t sum = 0;
  Chunks chunks(coordinator, source, {.rows = 1'024});
  while (const auto chunk = chunks.next()) {
    for (const std::uint32_t value : chunk->rows<std::uint32_t>()) sum += value;
  }
  EXPECT_EQ(sum, std::uint64_t{100'000} * 99'999 / 2 + 700'000);
}

/// Gives nothing before it is told to.
class LateValues final : public Producer {
 public:
  explicit LateValues(std::latch& begin) : begin_(begin) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
    begin_.wait();
    return std::exchange(has_ended_, true) ? 0 : std::min<std::size_t>(room.size(), 400);
  }
  std::string name() const override { return "late values"; }

 private:
  std::latch& begin_;
  bool has_ended_ = false;
};

TEST(Chunks, CanBeWaitedFor) {
  std::latch begin(1);
  const Source input = produced(std::make_unique<LateValues>(begin), {ElementType::u4});
  Coordinator coordinator(make_device(DeviceKind::cpu), {.streams = 3});
  Chunks chunks(coordinator, input, {.rows = 100});
  EXPECT_FALSE(chunks.size());
  EXPECT_EQ(chunks.most_leases(), 3u);
  EXPECT_FALSE(chunks.wait_for(std::chrono::milliseconds(20)));
  begin.count_down();
  while (!chunks.wait_for(std::chrono::seconds(1))) {
  }
  EXPECT_EQ(chunks.next()->count(), 100u);
  while (!chunks.wait_for(std::chrono::seconds(1))) {
  }
  EXPECT_FALSE(chunks.next());
  EXPECT_TRUE(chunks.wait_for(std::chrono::milliseconds(0)));
}

TEST(Chunks, ComeFromAProducerInOrderOnly) {
  const std::vector<std::uint32_t> values = numbers(50'000);
  const Source input = produced(std::make_unique<Values>(values), {ElementType::u4});
  Coordinator coordinator(make_device(DeviceKind::cpu));
  expect_error(ErrorKind::usage, "cannot be shuffled",
               [&] { Chunks(coordinator, input, {.shuffle_seed = 1}).next(); });
  std::vector<std::uint32_t> all;
  Chunks chunks(coordinator, input, {.rows = 300});
  while (const auto chunk = chunks.next()) {
    EXPECT_EQ(chunk->first(), all.size());
    const auto rows = chunk->rows<std::uint32_t>();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  EXPECT_EQ(all, values);
}

}  // namespace
}  // namespace ooc::detail
