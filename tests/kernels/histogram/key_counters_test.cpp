#include "histogram/key_counters.hpp"

#include <ooc/detail/kernels/simd.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace ooc::detail::binning {
namespace {

using Counts = std::map<std::size_t, std::uint64_t>;

/// Empties a counter and returns its counts. Fails if anything is left.
template <class Counter>
Counts empty(Counter& counter) {
  Counts counts;
  counter.empty([&](std::size_t key, std::uint64_t count) { counts[key] += count; });
  counter.empty([](std::size_t key, std::uint64_t) { ADD_FAILURE() << key << " is left"; });
  return counts;
}

template <class Key>
Counts one_by_one(std::span<const Key> keys) {
  Counts counts;
  for (const Key key : keys) ++counts[key];
  return counts;
}

TEST(Tables, CountKeysInAnyNumberOfTables) {
  std::mt19937_64 random(3);
  for (const std::size_t keys : {1, 4096, 4097, 65536, 65537}) {
    for (const std::size_t count : {0, 1, 3, 4, 10'001}) {
      std::vector<std::uint32_t> given(count);
      for (std::uint32_t& key : given) key = static_cast<std::uint32_t>(random() % keys);
      Tables tables(keys);
      tables.add(given.data(), given.size());
      EXPECT_EQ(empty(tables), one_by_one<std::uint32_t>(given)) << keys << " keys";
    }
  }
}

/// Counters of 8 bits overflow early.
TEST(Tables, CarryACounterBeforeItOverflows) {
  using SmallTables = BasicTables<std::uint8_t>;
  const std::vector<std::uint32_t> given(3 * SmallTables::most_at_once + 2, 1);
  for (const std::size_t keys : {2, 4097, 65537}) {  // in four tables, in two, in one
    SmallTables tables(keys);
    tables.add(given.data(), 255);
    tables.add(given.data(), 1);
    for (int i = 0; i < 1000; ++i) tables.add(given.data(), 7);
    tables.add(given.data(), given.size());  // more at once than a counter holds
    EXPECT_EQ(empty(tables), (Counts{{1, 255 + 1 + 7000u + given.size()}}));
  }
}

/// Checks the counts at each level of vector instructions.
void expect_counts(std::span<const std::uint8_t> bytes) {
  const Counts expected = one_by_one(bytes);
  for (const Simd simd : supported_simd()) {
    BytePairs pairs(simd);
    pairs.add(bytes.data(), bytes.size());
    ASSERT_EQ(empty(pairs), expected) << "level " << static_cast<int>(simd);
  }
}

TEST(BytePairs, AreToldApart) {
  for (int left = 0; left < 256; ++left) {
    std::vector<std::uint8_t> bytes(512, static_cast<std::uint8_t>(left));
    for (int right = 0; right < 512; ++right) bytes.push_back(static_cast<std::uint8_t>(right));
    expect_counts(bytes);
  }
}

TEST(BytePairs, OverflowTheirCounters) {
  std::mt19937_64 random(5);
  const std::pair<std::uint8_t, std::uint8_t> all[] = {{0, 0},     {255, 255}, {0, 255},  {3, 5},
                                                       {127, 128}, {128, 0},   {255, 254}};
  for (const auto& [one, other] : all) {
    std::vector<std::uint8_t> bytes(300'001);
    for (std::uint8_t& byte : bytes) byte = random() % 4 == 0 ? one : other;
    for (const std::size_t misaligned : {0, 1, 7}) {
      expect_counts(std::span(bytes).subspan(misaligned));
    }
  }
}

TEST(BytePairs, AreCountedInTablesThatChangeWithTheBytes) {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> bytes(1'000'003);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool few = i / 50'000 % 2 == 0;
    bytes[i] = static_cast<std::uint8_t>(random() % (few ? 2 : 256));
  }
  expect_counts(bytes);
}

}  // namespace
}  // namespace ooc::detail::binning
