#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "kernels/reduce/reduce_fixture.hpp"
#include "reduce/statistics.hpp"
#include "support/all_types.hpp"
#include "support/counted_new.hpp"
#include "support/effort.hpp"
#include "support/merge_parts.hpp"
#include "support/special_values.hpp"

// The statistics of columns against their definition (lines/lines.hpp), one column at a time.

namespace ooc::detail {
namespace {

using reduction::Node;
using reduction::TileResult;

constexpr std::size_t phases = 32;

/// Adds sums of phases in the tree of the definition.
double added(std::vector<double> sums) {
  for (std::size_t s = phases / 2; s > 0; s /= 2) {
    for (std::size_t k = 0; k < s; ++k) sums[k] += sums[k + s];
  }
  return sums[0];
}

template <class T>
bool is_nan(T value) {
  return std::isnan(to_double(value));
}

/// Returns the sum of term(value) over the values that are not NaN.
template <class T, class Term>
double sum_of(const std::vector<T>& column, Term term) {
  std::vector<double> sums(phases);
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (!is_nan(column[row])) sums[row % phases] += term(to_double(column[row]));
  }
  return added(sums);
}

template <class T>
void find_extremes(const std::vector<T>& column, TileResult& tile) {
  for (std::uint32_t row = 0; row < column.size(); ++row) {
    const double value = to_double(column[row]);
    if (std::isnan(value)) {
      ++tile.nan;
      tile.first_nan = std::min(tile.first_nan, row);
      continue;
    }
    if (std::isinf(value)) ++tile.inf;
    const auto rank = [&](std::uint32_t at) {
      return reduction::rank_of<T>(reduction::order_key(column[at]));
    };
    if (tile.argmin == reduction::nowhere || rank(row) < rank(tile.argmin)) tile.argmin = row;
    if (tile.argmax == reduction::nowhere || rank(row) > rank(tile.argmax)) tile.argmax = row;
  }
  if (tile.argmin == reduction::nowhere) return;
  tile.min_key = reduction::order_key(column[tile.argmin]);
  tile.max_key = reduction::order_key(column[tile.argmax]);
}

/// Returns the statistics of a tile by the definition.
template <class T>
TileResult defined_tile(const std::vector<T>& column) {
  TileResult tile;
  find_extremes(column, tile);
  double mean = 0;
  if constexpr (is_floating<T>) {
    tile.sum = sum_of(column, [](double value) { return value; });
    mean = tile.sum / static_cast<double>(column.size() - tile.nan);
  } else {
    int128 sum = 0;
    for (const T value : column) {
      sum += value;
      if constexpr (reduction::has_exact_squares<T>)
        tile.squares += static_cast<std::uint64_t>(std::int64_t{value} * value);
    }
    tile.sum_high = static_cast<std::int64_t>(sum >> 32);
    tile.sum_low = static_cast<std::uint32_t>(sum);
    mean = reduction::mean_of_integers(tile.sum_high, tile.sum_low, column.size());
  }
  if constexpr (!reduction::has_exact_squares<T>) {
    tile.m2 = sum_of(column, [mean](double value) { return (value - mean) * (value - mean); });
  }
  return tile;
}

/// Returns the statistics of a column of `values` by the definition.
template <class T>
Statistics defined_column(const std::vector<T>& values, std::size_t columns, std::size_t column,
                          const ReduceOptions& options) {
  const std::size_t rows = values.size() / columns;
  const std::size_t tile_rows = column_tile_rows(columns * sizeof(T));
  TileTree<Node<T>> tree;
  for (std::size_t row = 0; row < rows; row += tile_rows) {
    std::vector<T> tile;
    for (std::size_t i = row; i < std::min(row + tile_rows, rows); ++i) {
      tile.push_back(values[i * columns + column]);
    }
    tree.add(row / tile_rows, reduction::node_of<T>(defined_tile(tile), row, tile.size()));
  }
  const auto root = tree.take_root();
  return root ? reduction::statistics_of<T>(*root, {}, options)
              : reduction::statistics_of_nothing<T>();
}

class ByColumnTest : public test::ReduceTest {
 protected:
  template <class T>
  Source rows_of(const std::vector<T>& values, std::size_t columns) {
    Source source = source_of(values);
    source.set_shape({values.size() / columns, columns});
    return source;
  }

  /// Expects what the definition says, for both treatments of NaN, and that the check agrees.
  template <class T>
  void expect_defined(const std::vector<T>& values, std::size_t columns) {
    SCOPED_TRACE(std::to_string(values.size() / columns) + " rows of " + std::to_string(columns));
    const Source source = rows_of(values, columns);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 3});
    for (const ReduceOptions options : {ReduceOptions{.nan = NanPolicy::propagate, .exact = false},
                                        ReduceOptions{.nan = NanPolicy::omit, .exact = false}}) {
      const auto found = reduce_columns(coordinator, source, options).value;
      ASSERT_EQ(found.size(), columns);
      for (std::size_t c = 0; c < columns; ++c) {
        const Statistics expected = defined_column(values, columns, c, options);
        ASSERT_EQ(test::bits_of(found[c]), test::bits_of(expected)) << "column " << c;
      }
      verify_reduce_columns(coordinator, source, options, found);
    }
  }

  std::mt19937_64 random_{5};
};

INSTANTIATE_TEST_SUITE_P(Device, ByColumnTest, test::all_devices, test::device_name);

TEST_P(ByColumnTest, EveryTypeFollowsTheDefinition) {
  for (const ElementType type : test::all_types) {
    SCOPED_TRACE(std::string(name_of(type)));
    visit(type, [&]<class T>(std::type_identity<T>) {
      expect_defined(test::varied_values<T>(3 * 5000), 3);
      expect_defined(test::varied_values<T>(33 * 1025), 33);
      expect_defined(test::random_bits<T>(17 * 2049), 17);
    });
  }
}

TEST_P(ByColumnTest, AnyShapeFollowsTheDefinition) {
  for (const std::size_t columns : {1, 2, 15, 16, 31, 32, 63, 64, 65, 130}) {
    for (const std::size_t rows : {1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 3000}) {
      std::vector<float> values = test::rough_numbers(rows * columns);
      expect_defined(values, columns);
    }
  }
}

TEST_P(ByColumnTest, LongRowsHaveTilesOfFewerRows) {
  constexpr std::size_t columns = 40'000;
  ASSERT_EQ(column_tile_rows(columns * sizeof(double)), 16u);
  expect_defined(test::varied_values<double>(49 * columns), columns);
}

TEST_P(ByColumnTest, SpecialValuesStayInTheirColumn) {
  std::vector<double> values(5000 * 6, 1.5);
  const auto set = [&](std::size_t row, std::size_t column, double value) {
    values[row * 6 + column] = value;
  };
  set(3000, 0, test::nan);
  set(7, 1, test::infinity);
  set(9, 2, test::infinity), set(4000, 2, -test::infinity);
  set(2000, 3, -0.0), set(2001, 3, 0.0), set(4500, 3, -1.0);
  for (std::size_t row = 0; row < 5000; ++row) set(row, 4, test::nan);
  expect_defined(values, 6);
}

TEST_P(ByColumnTest, ResultsHaveTheSameBitsHoweverTheyAreRead) {
  const std::size_t rows = 1024 * test::effort(64, 16) + 77;
  const Source source = rows_of(test::rough_numbers(rows * 5), 5);
  std::vector<Statistics> first;
  for (const std::size_t chunk : {20 * KiB, 100 * KiB, 1 * MiB}) {
    for (const std::size_t streams : {1, 2, 5}) {
      Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = chunk, .streams = streams});
      const auto found = reduce_columns(coordinator, source).value;
      if (first.empty()) first = found;
      for (std::size_t c = 0; c < 5; ++c) {
        EXPECT_EQ(test::bits_of(found[c]), test::bits_of(first[c]));
      }
    }
  }
}

TEST_P(ByColumnTest, PartsOfSectionsGiveTheWhole) {
  constexpr std::size_t columns = 7;
  const Source whole = rows_of(test::rough_numbers(20'000 * columns), columns);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB});
  const auto expected = reduce_columns(coordinator, whole).value;
  const std::size_t tile = column_tile_rows(columns * sizeof(float));
  for (const std::size_t count : {1u, 3u, 40u}) {
    std::vector<PartialResult<std::vector<Statistics>>> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const Source section = shard_rows(whole, i, count, tile);
      const auto saved = collect_reduce_columns(coordinator, section).value.save();
      parts.push_back(load_reduce_columns(ElementType::f4, columns, {}, saved));
    }
    const auto found = test::merge_parts(std::move(parts), random_);
    for (std::size_t c = 0; c < columns; ++c) {
      EXPECT_EQ(test::bits_of(found[c]), test::bits_of(expected[c]));
    }
  }
}

TEST_P(ByColumnTest, PartsOfOtherColumnsDoNotLoad) {
  const Source source = rows_of(std::vector<float>(3 * 1000), 3);
  Coordinator coordinator(make_device(GetParam()));
  const auto saved = collect_reduce_columns(coordinator, source).value.save();
  test::expect_error(ErrorKind::usage, "in 3 columns",
                     [&] { load_reduce_columns(ElementType::f4, 4, {}, saved); });
  const auto cut = std::span(saved).first(saved.size() - 8);
  test::expect_error(ErrorKind::bad_input, "",
                     [&] { load_reduce_columns(ElementType::f4, 3, {}, cut); });
}

TEST_P(ByColumnTest, NoRowsHaveNoValues) {
  Source source = source_of(std::vector<float>{});
  source.set_shape({0, 4});
  Coordinator coordinator(make_device(GetParam()));
  const auto found = reduce_columns(coordinator, source).value;
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[3].count, 0u);
  EXPECT_FALSE(found[3].mean.has_value());
  verify_reduce_columns(coordinator, source, {}, found);
}

TEST_P(ByColumnTest, RefusesWhatItDoesNotCompute) {
  Coordinator coordinator(make_device(GetParam()));
  const Source source = rows_of(std::vector<float>(12), 4);
  test::expect_error(ErrorKind::usage, "not rounded once", [&] {
    (void)reduce_columns(coordinator, source, {.nan = NanPolicy::omit, .exact = true});
  });
  Source long_rows = source_of(std::vector<float>(13));
  long_rows.set_columns(4);
  test::expect_error(ErrorKind::bad_input, "52 bytes are not a whole number",
                     [&] { (void)reduce_columns(coordinator, long_rows); });
}

TEST_P(ByColumnTest, TheCheckNamesTheColumn) {
  const Source source = rows_of(test::rough_numbers(5000 * 3), 3);
  Coordinator coordinator(make_device(GetParam()));
  auto found = reduce_columns(coordinator, source).value;
  *found[2].mean *= 1 + 1e-9;
  test::expect_error(ErrorKind::verify, "column 2: mean",
                     [&] { verify_reduce_columns(coordinator, source, {}, found); });
  found.pop_back();
  test::expect_error(ErrorKind::verify, "columns",
                     [&] { verify_reduce_columns(coordinator, source, {}, found); });
}

TEST_P(ByColumnTest, MoreChunksAllocateNoMore) {
  const auto count_for = [&](std::size_t chunks) {
    const Source source = rows_of(std::vector<float>(chunks * 1024 * 32), 32);
    Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 128 * KiB, .streams = 2});
    return test::count_of_new_when_repeated([&] { (void)reduce_columns(coordinator, source); });
  };
  EXPECT_LT(count_for(100), count_for(4) + 96 / 4);
}

}  // namespace
}  // namespace ooc::detail
