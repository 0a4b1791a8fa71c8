// Folds of sections, which are saved, loaded and merged in any order.

#include <ooc/fold.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "lib/parts/savable_operators.hpp"
#include "support/bits.hpp"
#include "support/merge_parts.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::NamedSum;
using test::partition;
using test::WeightedRows;
using test::WindowSum;

/// The first place of the largest value, and the number of values.
struct Largest {
  using Input = float;
  struct Partial {
    std::uint64_t count = 0, first = 0;
    float value = 0;
  };
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::size_t partition_records = partition;
  static constexpr std::string_view partial_name = "test.largest/1";

  std::string question() const { return "the largest value"; }
  std::uint64_t records_in(const Partial& partial) const { return partial.count; }
  void consume(Stream& stream, DeviceChunk<const float> in, Partial& best) const {
    const auto values = test::on_host<const float>(stream, in);
    for (std::size_t i = 0; i < values.size(); ++i) {
      merge(best, {1, in.first + i, values[i]});
    }
  }
  void merge(Partial& total, const Partial& part) const {
    if (part.count == 0) return;
    const bool is_better = total.count == 0 || part.value > total.value ||
                           (part.value == total.value && part.first < total.first);
    if (is_better) total.value = part.value, total.first = part.first;
    total.count += part.count;
  }
};

/// The values that are multiples of a number, of which a partial has many.
struct Multiples {
  using Input = float;
  using Partial = std::vector<float>;
  static constexpr std::size_t partition_records = partition;
  static constexpr std::string_view partial_name = "test.multiples/1";
  float of;

  std::string question() const { return "multiples of " + std::to_string(of); }
  void consume(Stream& stream, DeviceChunk<const float> in, Partial& found) const {
    for (const float value : test::on_host<const float>(stream, in)) {
      if (std::fmod(value, of) == 0) found.push_back(value);
    }
  }
  void merge(Partial& total, const Partial& part) const {
    total.insert(total.end(), part.begin(), part.end());
  }
  void save(const Partial& partial, std::vector<std::byte>& out) const {
    for (const float value : partial) append_bytes(out, value);
  }
  void load(std::span<const std::byte> in, Partial& partial) const {
    ByteReader bytes(in);
    while (bytes.left() != 0) partial.push_back(bytes.take<float>());
  }
};

class PartTest : public test::ResidentFixture {
 protected:
  /// Borders of `count` sections at random partitions; some sections may be empty.
  std::vector<std::uint64_t> borders(std::size_t count) {
    std::vector<std::uint64_t> borders{0, count_};
    while (borders.size() <= count) borders.push_back(random_() % 51 * partition);
    std::ranges::sort(borders);
    return borders;
  }

  /// Returns what an operator finds in sections that are merged in random order, two at a time;
  /// half of the parts are saved and loaded again.
  template <class Op>
  auto merged(Coordinator& machine, const Op& op, std::size_t sections) {
    const auto at = borders(sections);
    std::vector<PartialResult<ResultOf<Op>>> parts;
    for (std::size_t i = 0; i < sections; ++i) {
      const Source part = section(source_, at[i], at[i + 1] - at[i]);
      parts.push_back(collect(machine, op, part).value);
      if (random_() % 2 == 0) parts.back() = load_part(op, parts.back().save());
    }
    return test::merge_parts(std::move(parts), random_);
  }

  std::mt19937_64 random_{7};
};

TEST_P(PartTest, HaveTheBitsOfTheWholeInAnyOrder) {
  Coordinator machine = coordinator();
  const auto sum = test::bits_of(fold(machine, NamedSum{}, source_).value);
  const auto [count, first, value] = fold(machine, Largest{}, source_).value;
  const auto multiples = fold(machine, Multiples{0.5f}, source_).value;
  for (const std::size_t sections : {1u, 2u, 3u, 7u, 20u, 60u}) {
    EXPECT_EQ(test::bits_of(merged(machine, NamedSum{}, sections)), sum) << sections;
    const auto largest = merged(machine, Largest{}, sections);
    EXPECT_EQ(largest.count, count);
    EXPECT_EQ(largest.first, first);
    EXPECT_EQ(largest.value, value);
    EXPECT_EQ(merged(machine, Multiples{0.5f}, sections), multiples);
  }
}

TEST_P(PartTest, SeveralOperatorsShareAPass) {
  Coordinator machine = coordinator();
  const std::tuple both{NamedSum{}, Largest{}};
  auto [left, stats] = collect(machine, both, section(source_, 0, 16 * partition));
  EXPECT_EQ(stats.outcome.bytes, 16 * partition * sizeof(float));
  auto right =
      collect(machine, both, section(source_, 16 * partition, count_ - 16 * partition)).value;
  std::get<0>(left).merge(std::move(std::get<0>(right)));
  std::get<1>(left).merge(std::move(std::get<1>(right)));
  EXPECT_EQ(std::move(std::get<0>(left)).result(), fold(machine, NamedSum{}, source_).value);
  EXPECT_EQ(std::move(std::get<1>(left)).result().count, count_);
}

TEST_P(PartTest, AFoldOfASectionIsOfItAlone) {
  Coordinator machine = coordinator();
  const auto all = values();
  const test::ValuesFile other;
  const std::size_t first = 8 * partition, count = 16 * partition;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<float> part(begin, begin + static_cast<std::ptrdiff_t>(count));
  const Source alone = other.source_of(part);
  EXPECT_EQ(fold(machine, NamedSum{}, section(source_, first, count)).value,
            fold(machine, NamedSum{}, alone).value);
  const auto largest = fold(machine, Largest{}, section(source_, first, count)).value;
  EXPECT_EQ(largest.first, fold(machine, Largest{}, alone).value.first + first);
}

TEST_P(PartTest, RefusesWhatDoesNotFit) {
  Coordinator machine = coordinator();
  const auto part_of = [&](std::uint64_t first, std::uint64_t count) {
    return collect(machine, NamedSum{}, section(source_, first, count)).value;
  };
  auto part = part_of(0, 2 * partition);
  expect_error(ErrorKind::usage, "two parts cover the records 4096 to 8192",
               [&] { part.merge(part_of(partition, partition)); });
  part.merge(part_of(3 * partition, partition));
  expect_error(ErrorKind::usage, "no part covers the records 8192 to 12288",
               [&] { std::move(part).result(); });
  expect_error(ErrorKind::usage, "no part covers the records 0 to 4096",
               [&] { part_of(partition, count_ - partition).result(); });
  expect_error(ErrorKind::usage, "of the records 1 to 5 is not whole partitions of the operator",
               [&] { part_of(1, 4); });
  expect_error(ErrorKind::usage, "is not whole partitions",
               [&] { fold(machine, NamedSum{}, section(source_, 0, 5)); });
  const test::ValuesFile other;
  const Source shorter = other.source_of(std::vector<float>(5));
  expect_error(ErrorKind::usage, "one part is of 204877 records, the other one of 5",
               [&] { part.merge(collect(machine, NamedSum{}, shorter).value); });
  auto halves = collect(machine, Multiples{0.5f}, source_).value;
  expect_error(ErrorKind::usage, "of multiples of 0.500000, the other one of multiples of 2.000000",
               [&] { halves.merge(collect(machine, Multiples{2}, shorter).value); });
  expect_error(ErrorKind::usage, "multiples of 2.000000",
               [&] { load_part(Multiples{2}, halves.save()); });
  expect_error(ErrorKind::usage, "of the operator test.largest/1",
               [&] { load_part(Largest{}, halves.save()); });
}

TEST_P(PartTest, RefusesNeighboursAcrossABorder) {
  Coordinator machine = coordinator();
  expect_error(ErrorKind::usage, "an operator with neighbours cannot read a section",
               [&] { collect(machine, WindowSum{}, section(source_, 0, partition)); });
}

TEST_P(PartTest, OfRowsOfSeveralFiles) {
  constexpr std::size_t rows = 10 * 1024 + 3, columns = 4;
  auto all = values();
  all.resize(rows * columns);
  const test::ValuesFile first, second;
  Source points = first.source_of(all);
  points.set_shape({rows, columns});
  const Source weights = second.source_of(std::vector<float>(all.begin(), all.begin() + rows));
  Coordinator machine = coordinator();
  const double expected = fold(machine, WeightedRows{}, zip(points, weights)).value;
  const auto part_of = [&](std::size_t begin, std::size_t count) {
    const Source a = section(points, begin * columns, count * columns);
    const Source b = section(weights, begin, count);
    return collect(machine, WeightedRows{}, zip(a, b)).value;
  };
  auto part = part_of(3 * 1024, rows - 3 * 1024);
  part.merge(part_of(0, 3 * 1024));
  EXPECT_EQ(std::move(part).result(), expected);
  const Source a = section(points, 1024 * columns, 1024 * columns), b = section(weights, 0, 1024);
  expect_error(ErrorKind::usage, "begin at different records",
               [&] { collect(machine, WeightedRows{}, zip(a, b)); });
  const Source within = section(points, 1, 1024 * columns), c = section(weights, 0, 1024);
  expect_error(ErrorKind::usage, "begins within a record of 16 bytes",
               [&] { collect(machine, WeightedRows{}, zip(within, c)); });
}

/// Concatenates values, in their order.
struct Concatenated {
  using Input = float;
  using Partial = std::vector<float>;
  static constexpr Merge merge_order = Merge::in_order;
  static constexpr std::size_t partition_records = partition;
  void consume(Stream& stream, DeviceChunk<const float> in, Partial& all) const {
    all = test::on_host<const float>(stream, in);
  }
  void merge(Partial& total, const Partial& part) const {
    total.insert(total.end(), part.begin(), part.end());
  }
};
static_assert(!SavableFold<Concatenated> && SavableFold<NamedSum>);

TEST_P(PartTest, AFoldInOrderBeginsWithTheSection) {
  Coordinator machine = coordinator();
  const auto all = values();
  const auto found =
      fold(machine, Concatenated{}, section(source_, 8 * partition, 9 * partition)).value;
  EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + 8 * partition,
                         all.begin() + 17 * partition));
}

struct RowsOfEight : test::RoundedSum {
  using Input = std::array<float, 8>;
  void consume(Stream&, DeviceChunk<const std::array<float, 8>>, float&) const {}
};

TEST_P(PartTest, ASectionKeepsTheShapeOfItsRows) {
  Source table = file_.source_of(std::vector<float>(8192 * 10));
  table.set_shape({8192, 10});
  Coordinator machine = coordinator();
  expect_error(ErrorKind::bad_input, "has the shape N x 10, the operator takes rows of 8 float32",
               [&] { fold(machine, RowsOfEight{}, section(table, 0, 4096 * 10)); });
  table.set_shape({1024, 10, 8});
  fold(machine, RowsOfEight{}, section(table, 0, 4096 * 8));
}

TEST_P(PartTest, SectionsOfDifferentWholesAreNotReadSideBySide) {
  const test::ValuesFile other;
  const Source shorter = other.source_of(std::vector<float>(2 * 1024));
  Source wide = section(source_, 0, 2 * 1024 * 4);
  wide.set_columns(4);
  Coordinator machine = coordinator();
  expect_error(ErrorKind::bad_input, "are of sources that do not have the same whole records",
               [&] { collect(machine, WeightedRows{}, zip(wide, shorter)); });
}

TEST_P(PartTest, IsUsedOnce) {
  Coordinator machine = coordinator();
  auto part = collect(machine, NamedSum{}, source_).value;
  std::move(part).result();
  const std::string what = "a part was used that was moved from";
  expect_error(ErrorKind::usage, what, [&] { std::move(part).result(); });
  expect_error(ErrorKind::usage, what, [&] { part.save(); });
  auto whole = collect(machine, NamedSum{}, source_).value;
  expect_error(ErrorKind::usage, what, [&] { whole.merge(std::move(part)); });
}

TEST_P(PartTest, OfNothing) {
  const test::ValuesFile other;
  const Source nothing = other.source_of(std::vector<float>());
  Coordinator machine = coordinator();
  auto part = load_part(NamedSum{}, collect(machine, NamedSum{}, nothing).value.save());
  EXPECT_TRUE(part.covers().empty());
  EXPECT_EQ(std::move(part).result(), 0);
}

TEST_P(PartTest, DamagedBytesAreRefusedOrLoadedButNeverMore) {
  Coordinator machine = coordinator();
  const auto sum = collect(machine, NamedSum{}, section(source_, 0, 7 * partition)).value.save();
  const auto found = collect(machine, Largest{}, source_).value.save();
  const auto load = [](const auto& op, const std::vector<std::byte>& bytes) {
    try {
      load_part(op, bytes);
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::usage);
      return false;
    }
  };
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_FALSE(load(NamedSum{}, {sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(i)}));
  }
  std::vector<std::byte> longer = sum;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(load(NamedSum{}, longer));
  for (int round = 0; round < 2000; ++round) {
    for (const auto* saved : {&sum, &found}) {
      std::vector<std::byte> changed = *saved;
      changed[random_() % changed.size()] ^= std::byte(1u << random_() % 8);
      saved == &sum ? load(NamedSum{}, changed) : load(Largest{}, changed);
    }
  }
}

using Nodes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // levels and indices

TEST(PartCover, NodesMustCoverWhatItNames) {
  // Tiles of 10 records, the last one with 5; the first four and the last are covered.
  const Cover cover{.records = 65, .partition = 10, .ranges = {{0, 40}, {60, 5}}};
  for (const Nodes& nodes : {Nodes{{2, 0}, {0, 6}}, Nodes{{1, 0}, {0, 2}, {0, 3}, {0, 6}}}) {
    require_nodes(cover, nodes);
  }
  for (const Nodes& nodes :
       {Nodes{{2, 0}}, Nodes{{0, 6}}, Nodes{{2, 0}, {1, 2}, {0, 6}}, Nodes{{2, 0}, {2, 1}},
        Nodes{{2, 0}, {0, 6}, {0, 6}}, Nodes{{2, 0}, {1, 1}, {0, 6}}, Nodes{{2, 0}, {0, 7}},
        Nodes{{2, 0}, {64, 0}}, Nodes{{2, 0}, {0, ~std::uint64_t{0}}}, Nodes{{66, 0}, {0, 6}}}) {
    EXPECT_THROW(require_nodes(cover, nodes), Error);
  }
  const Cover nothing;
  require_nodes(nothing, {});
  EXPECT_THROW(require_nodes(nothing, Nodes{{0, 0}}), Error);
}

TEST(PartCover, CountsAndPartitionsMustAgree) {
  Cover cover{.records = 65, .partition = 10, .ranges = {{0, 40}}};
  require_records(cover, 40);
  expect_error(ErrorKind::bad_input, "is of 41 records, not of the 40 that it names",
               [&] { require_records(cover, 41); });
  const Cover of_a_gpu{.records = 65, .partition = 20, .ranges = {{40, 25}}};
  expect_error(ErrorKind::usage, "one part has partitions of 10 records, the other one of 20",
               [&] { cover.add(of_a_gpu); });
  cover.add({.records = 65, .partition = 10, .ranges = {{40, 25}}});
  ASSERT_EQ(cover.ranges.size(), 1u);
  EXPECT_EQ(cover.ranges[0].count, 65u);
  cover.require_whole();
}

INSTANTIATE_TEST_SUITE_P(Machines, PartTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc::detail
