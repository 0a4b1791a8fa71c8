#include "reduce/tiles.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/partials/tile_tree.hpp>
#include <ooc/memory.hpp>
#include <ooc/reduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "reduce/node.hpp"
#include "support/bits.hpp"

namespace ooc::detail::reduction {
namespace {

using test::from_bits;

// --- data of all kinds ---------------------------------------------------------------------------

/// Returns special values. For floating types NaN is the first.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  if constexpr (std::is_same_v<T, Float16>) {
    for (const int bits : {0x7e01, 0x7c00, 0xfc00, 0, 0x8000, 1, 0x8001, 0x7bff, 0xfbff, 0x3c00}) {
      values.push_back({static_cast<std::uint16_t>(bits)});
    }
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    for (const int bits : {0x7fc1, 0x7f80, 0xff80, 0, 0x8000, 1, 0x8001, 0x7f7f, 0xff7f, 0x3f80}) {
      values.push_back({static_cast<std::uint16_t>(bits)});
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    values = {Limits::quiet_NaN(),
              Limits::infinity(),
              -Limits::infinity(),
              T{0},
              -T{0},
              Limits::denorm_min(),
              -Limits::denorm_min(),
              Limits::max() / 1024,
              Limits::lowest() / 37,
              T{1}};
  } else {
    values = {Limits::min(), Limits::max(), T{0}, T{1}, static_cast<T>(-1)};
  }
  return values;
}

template <class T>
bool is_nan(T value) {
  return std::isnan(to_double(value));
}

/// Returns numbers of similar size. For floating types they are about 0.5 to 1, of either sign.
template <class T>
T ordinary(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if constexpr (std::is_same_v<T, Float16>) {
    return {static_cast<std::uint16_t>((bits & 0x83ff) | 0x3800)};
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {static_cast<std::uint16_t>((bits & 0x807f) | 0x3f00)};
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto size = static_cast<T>(static_cast<double>(bits >> 12) * 0x1p-52);
    return (bits & 1) != 0 ? size : -size;
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
std::map<std::string, std::vector<T>> data_of_all_sorts(std::size_t count) {
  std::mt19937_64 random(count);
  const std::vector<T> special = special_values<T>();
  const auto fill = [&](auto make) {
    std::vector<T> values(count);
    std::ranges::generate(values, make);
    return values;
  };
  std::map<std::string, std::vector<T>> data;
  data["ordinary"] = fill([&] { return ordinary<T>(random); });
  data["random bits"] = fill([&] { return from_bits<T>(random()); });
  data["constant"] = std::vector<T>(count, ordinary<T>(random));
  data["special"] = fill([&] { return special[random() % special.size()]; });
  data["lowest"] = std::vector<T>(count, special[0]);  // all NaN for floating types
  data["highest"] = std::vector<T>(count, special[1]);

  std::vector<T>& descending = data["descending"] = data["ordinary"];
  std::ranges::sort(descending, std::greater{}, to_double<T>);
  if constexpr (is_floating<T>) {
    const T zero = special[3];
    const T minus_zero = special[4];
    data["zeros"] = fill([&] { return random() % 1000 == 0 ? minus_zero : zero; });
    data["random zeros"] = fill([&] { return special[3 + random() % 2]; });
    data["zeros and NaN"] = fill([&] { return special[std::array{0, 3, 4}[random() % 3]]; });
    data["one minus zero"] = std::vector<T>(count, zero);
    data["one minus zero"].back() = minus_zero;
    data["minus zeros"] = fill([&] { return random() % 1000 == 0 ? zero : minus_zero; });
    data["not below zero"] = fill([&] { return special[random() % 2 == 0 ? 3 : 9]; });
    std::vector<T>& one_nan = data["one nan"] = data["ordinary"];
    one_nan[count * 2 / 3] = special[0];
    std::vector<T>& infinities = data["infinities"] = data["ordinary"];
    infinities.front() = special[1];
    infinities.back() = special[2];
  }
  return data;
}

// --- the definition, element by element ----------------------------------------------------------

template <class Term>
double add_in_order(std::size_t count, Term term) {
  double sums[256] = {};
  for (std::size_t i = 0; i < count; ++i) sums[i % 256] += term(i);
  for (const std::size_t s : {128, 64, 32, 16, 8, 4, 2, 1}) {
    for (std::size_t j = 0; j < s; ++j) sums[j] = sums[j] + sums[j + s];
  }
  return sums[0];
}

/// Less-than; the two zeros are equal.
template <class T>
bool before(T left, T right) {
  if constexpr (is_floating<T>) {
    return to_double(left) < to_double(right);
  } else {
    return left < right;
  }
}

template <class T>
Node<T> node_by_definition(std::span<const T> tile, std::uint64_t first) {
  Node<T> node;
  node.count = tile.size();
  int128 squares = 0;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    if (is_nan(tile[i])) {
      if (node.nan++ == 0) node.first_nan = first + i;
      continue;
    }
    if constexpr (is_floating<T>) node.inf += std::isinf(to_double(tile[i])) ? 1 : 0;
    if (node.argmin == nowhere_at_all || before(tile[i], tile[node.argmin - first])) {
      node.argmin = first + i;
    }
    if (node.argmax == nowhere_at_all || before(tile[node.argmax - first], tile[i])) {
      node.argmax = first + i;
    }
    if constexpr (!is_floating<T>) {
      node.sum += tile[i];
      if constexpr (sizeof(T) <= 2) squares += int128{tile[i]} * tile[i];
    }
  }
  if constexpr (is_floating<T>) {
    node.sum = add_in_order(
        tile.size(), [&](std::size_t i) { return is_nan(tile[i]) ? 0.0 : to_double(tile[i]); });
  }
  if (node.values() == 0) return node;
  node.min_key = order_key(tile[node.argmin - first]);
  node.max_key = order_key(tile[node.argmax - first]);
  if constexpr (!is_floating<T> && sizeof(T) <= 2) {
    const int128 count = node.count;
    node.m2 = static_cast<double>(count * squares - node.sum * node.sum) /
              static_cast<double>(node.count);
  } else {
    const double mean = static_cast<double>(node.sum) / static_cast<double>(node.values());
    node.m2 = add_in_order(tile.size(), [&](std::size_t i) {
      const double distance = to_double(tile[i]) - mean;
      return is_nan(tile[i]) ? 0.0 : distance * distance;
    });
  }
  return node;
}

// --- comparisons ---------------------------------------------------------------------------------

void expect_same_bits(double left, double right) {
  if (std::isnan(left) && std::isnan(right)) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(left), std::bit_cast<std::uint64_t>(right))
      << left << " and " << right;
}

template <class T>
void expect_same(const Node<T>& left, const Node<T>& right) {
  EXPECT_EQ(left.count, right.count);
  EXPECT_EQ(left.nan, right.nan);
  EXPECT_EQ(+left.inf, +right.inf);
  EXPECT_EQ(left.first_nan, right.first_nan);
  if constexpr (is_floating<T>) {
    expect_same_bits(left.sum, right.sum);
  } else {
    EXPECT_TRUE(left.sum == right.sum) << to_string(left.sum) << " and " << to_string(right.sum);
  }
  expect_same_bits(left.m2, right.m2);
  EXPECT_EQ(left.argmin, right.argmin);
  EXPECT_EQ(left.argmax, right.argmax);
  EXPECT_EQ(left.min_key, right.min_key);
  EXPECT_EQ(left.max_key, right.max_key);
}

template <class T>
const std::byte* bytes_of(std::span<const T> values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

template <class T>
std::span<const T> tile_of(const std::vector<T>& values, std::size_t tile) {
  const std::span whole(values);
  const std::size_t begin = tile * tile_elements;
  return whole.subspan(begin, std::min(tile_elements, values.size() - begin));
}

/// The root of the tree, with tiles dealt to `lanes` lanes in turn, two at a time.
template <class T>
Node<T> root_on_cpu(const std::vector<T>& values, Simd simd, std::size_t lanes) {
  TileTree<Node<T>> tree;
  const std::size_t tiles = divide_up(values.size(), tile_elements);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    CpuLane state;
    for (std::size_t tile = 2 * lane; tile < tiles; tile += 2 * lanes) {
      std::vector<TileResult> results(std::min<std::size_t>(2, tiles - tile));
      const std::size_t begin = tile * tile_elements;
      const std::size_t count = std::min(2 * tile_elements, values.size() - begin);
      reduce_tiles_cpu(element_type_of<T>(), bytes_of(tile_of(values, tile)), count, simd, state,
                       results);
      for (std::size_t i = 0; i < results.size(); ++i) {
        tree.add(tile + i, node_of<T>(results[i], begin + i * tile_elements,
                                      tile_of(values, tile + i).size()));
      }
    }
  }
  return *tree.take_root();
}

template <class T>
class ReduceTiles : public testing::Test {};

using Types =
    testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, Float16, float, double, BFloat16>;
TYPED_TEST_SUITE(ReduceTiles, Types);

TYPED_TEST(ReduceTiles, AllLevelsFollowTheDefinition) {
  using T = TypeParam;
  for (const std::size_t count : {1, 255, 256, 257, 2047, 2048, 2049, 65535, 65536}) {
    for (const auto& [sort, values] : data_of_all_sorts<T>(count)) {
      const Node<T> expected = node_by_definition(std::span<const T>(values), 1000);
      for (const Simd simd : supported_simd()) {
        SCOPED_TRACE(sort + ", " + std::to_string(count) + " elements, level " +
                     std::to_string(static_cast<int>(simd)));
        CpuLane lane;
        TileResult result;
        reduce_tiles_cpu(element_type_of<T>(), bytes_of(std::span<const T>(values)), count, simd,
                         lane, {&result, 1});
        expect_same(node_of<T>(result, 1000, count), expected);
      }
    }
  }
}

TYPED_TEST(ReduceTiles, ManyTilesOnSeveralLanes) {
  using T = TypeParam;
  for (const auto& [sort, values] : data_of_all_sorts<T>(6 * tile_elements + 12'345)) {
    TileTree<Node<T>> tree;
    for (std::size_t tile = 0; tile < 7; ++tile) {
      tree.add(tile, node_by_definition(tile_of(values, tile), tile * tile_elements));
    }
    const Node<T> expected = *tree.take_root();
    for (const Simd simd : supported_simd()) {
      for (const std::size_t lanes : {1, 2, 3}) {
        SCOPED_TRACE(sort + ", " + std::to_string(lanes) + " lanes, level " +
                     std::to_string(static_cast<int>(simd)));
        expect_same(root_on_cpu(values, simd, lanes), expected);
      }
    }
  }
}

TYPED_TEST(ReduceTiles, TheGpuFollowsTheDefinition) {
  using T = TypeParam;
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  const auto device = make_device(DeviceKind::cuda);
  device->bind_to_thread();
  const auto stream = device->make_stream();
  for (const std::size_t count : {1, 255, 257, 2049, 65535, 65536, 200'000}) {
    for (const auto& [sort, values] : data_of_all_sorts<T>(count)) {
      SCOPED_TRACE(sort + ", " + std::to_string(count) + " elements");
      const Buffer on_device(device->device_memory(), count * sizeof(T));
      stream->copy(on_device.data(), values.data(), count * sizeof(T));
      std::vector<TileResult> results(divide_up(count, tile_elements));
      reduce_tiles_cuda(*stream, element_type_of<T>(), on_device.data(), count, results);
      for (std::size_t tile = 0; tile < results.size(); ++tile) {
        const std::uint64_t first = tile * tile_elements;
        const std::span<const T> elements = tile_of(values, tile);
        expect_same(node_of<T>(results[tile], first, elements.size()),
                    node_by_definition(elements, first));
      }
    }
  }
}

TYPED_TEST(ReduceTiles, KeysAreInOrderAndComeBack) {
  using T = TypeParam;
  std::mt19937_64 random(4);
  std::vector<T> values = special_values<T>();
  for (int i = 0; i < 200; ++i) values.push_back(from_bits<T>(random()));
  std::erase_if(values, is_nan<T>);
  for (const T left : values) {
    if constexpr (is_floating<T>) {
      expect_same_bits(floating_from_key(order_key(left)), to_double(left));
    }
    for (const T right : values) {
      EXPECT_EQ(rank_of<T>(order_key(left)) < rank_of<T>(order_key(right)), before(left, right));
    }
  }
}

Node<float> leaf(std::vector<float> values, std::uint64_t first) {
  return node_by_definition(std::span<const float>(values), first);
}

TEST(ReduceNode, NothingIsNeutral) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Node<float> values = leaf({3, -1, 0.1f}, 5);
  Node<float> merged = values;
  merged.merge_right({});
  expect_same(merged, values);
  merged = {};
  merged.merge_right(values);
  expect_same(merged, values);

  merged = leaf({nan, nan}, 3);
  merged.merge_right(values);
  EXPECT_EQ(merged.count, 5u);
  EXPECT_EQ(merged.nan, 2u);
  EXPECT_EQ(merged.first_nan, 3u);
  expect_same_bits(merged.sum, values.sum);
  expect_same_bits(merged.m2, values.m2);
  EXPECT_EQ(merged.argmin, values.argmin);

  merged = values;
  merged.merge_right(leaf({nan}, 8));
  EXPECT_EQ(merged.first_nan, 8u);
  expect_same_bits(merged.m2, values.m2);
  EXPECT_EQ(merged.argmax, values.argmax);
}

TEST(ReduceNode, OfBothZerosTheFirstIsTaken) {
  Node<float> merged = leaf({0, 0}, 0);
  merged.merge_right(leaf({-0.0f, 0}, 2));
  EXPECT_EQ(merged.argmin, 0u);
  EXPECT_FALSE(std::signbit(floating_from_key(merged.min_key)));

  merged = leaf({-0.0f, -0.0f}, 0);
  merged.merge_right(leaf({0, -0.0f}, 2));
  EXPECT_EQ(merged.argmax, 0u);
  EXPECT_TRUE(std::signbit(floating_from_key(merged.max_key)));
}

TEST(ReduceNode, MergesAsIfItWereOneTile) {
  Node<float> merged = leaf({1, 2, 4}, 0);
  merged.merge_right(leaf({8, 1, 8, 2, 3}, 3));
  EXPECT_EQ(merged.sum, 29);
  EXPECT_NEAR(merged.m2, 163 - 29.0 * 29 / 8, 1e-12);
  EXPECT_EQ(merged.argmin, 0u);  // the first of equal values
  EXPECT_EQ(merged.argmax, 3u);
  EXPECT_EQ(floating_from_key(merged.max_key), 8);
}

}  // namespace
}  // namespace ooc::detail::reduction
