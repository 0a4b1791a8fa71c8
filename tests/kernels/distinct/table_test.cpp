#include "distinct/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ooc::detail::distincts {
namespace {

constexpr std::size_t no_limit = Table::no_limit;

std::vector<Entry> entries_in(const Table& table) {
  std::vector<Entry> all;
  table.for_each([&](const Entry& entry) { all.push_back(entry); });
  std::ranges::sort(all, {}, &Entry::bits);
  return all;
}

TEST(DistinctTable, AddsUpCountsOfSeveralThreads) {
  Table table(no_limit, true);
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  std::vector<Entry> entries;
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < 100'000; ++i) entries.push_back({random() % 30'000 + 1, i % 5 + 1});
  std::vector<std::jthread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] { table.add(entries); });
    for (const Entry& entry : entries) expected[entry.bits] += entry.count;
  }
  threads.clear();
  EXPECT_EQ(table.size(), expected.size());
  for (const auto& [bits, count] : entries_in(table)) EXPECT_EQ(count, expected[bits]) << bits;
}

TEST(DistinctTable, TakesTheEntriesOfAnother) {
  Table one(no_limit, true), other(no_limit, true);
  one.add(std::vector<Entry>{{1, 2}, {3, 4}});
  other.add(std::vector<Entry>{{3, 5}, {~std::uint64_t{0}, 6}});
  one.take(other);
  EXPECT_EQ(other.size(), 0u);
  const std::vector<Entry> all = entries_in(one);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].count, 2u);
  EXPECT_EQ(all[1].count, 9u);
  EXPECT_EQ(all[2].count, 6u);
}

TEST(DistinctTable, IsFullWithoutMemory) {
  Table table(64 * 1024, false);
  std::uint64_t bits = 0;
  while (!table.is_full()) table.add(std::vector<Entry>{{++bits, 1}});
  EXPECT_GT(bits, 256u);
  EXPECT_LE(bits, 64u * 1024 / 8);
  EXPECT_EQ(table.size(), 0u);
  table.add(std::vector<Entry>{{1, 1}});
  EXPECT_EQ(table.size(), 0u);
  Table other(no_limit, false);
  other.add(std::vector<Entry>{{1, 1}});
  other.take(table);
  EXPECT_TRUE(other.is_full());
}

TEST(DistinctTable, SectionsAreInTheOrderOfHashes) {
  Table table(no_limit, false);
  std::vector<Entry> entries;
  for (std::uint64_t bits = 1; bits <= 50'000; ++bits) entries.push_back({bits, 0});
  table.add(entries);
  std::uint64_t last = 0;
  std::size_t seen = 0;
  for (std::size_t section = 0; section < Table::sections; ++section) {
    for (const Entry& entry : table.entries_of(section)) {
      EXPECT_LT(last, hash_of(entry.bits));
      EXPECT_EQ(section_of(hash_of(entry.bits)), section);
      last = hash_of(entry.bits);
      ++seen;
    }
  }
  EXPECT_EQ(seen, entries.size());
}

TEST(DistinctTable, AddsEntriesInTheOrderOfTheirHashes) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 1000, 1'000'000}) {
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back({i * 977 + 1, i + 1});
    std::ranges::sort(entries, {}, [](const Entry& entry) { return hash_of(entry.bits); });
    for (const bool has_room : {false, true}) {
      Table table(no_limit, true);
      if (has_room) table.reserve(count);
      table.add_ascending(entries);
      ASSERT_EQ(table.size(), count);
      for (const auto& [bits, times] : entries_in(table)) ASSERT_EQ(times, (bits - 1) / 977 + 1);
    }
  }
}

TEST(DistinctTable, TakesNoMoreMemoryThanIsPlanned) {
  for (const std::size_t values : {1'000, 100'000, 1'000'000}) {
    for (const bool has_counts : {false, true}) {
      const auto bytes = static_cast<double>(values);
      const auto limit = static_cast<std::size_t>(table_bytes_for(bytes, has_counts));
      std::vector<Entry> entries;
      for (std::uint64_t bits = 1; bits <= values; ++bits) entries.push_back({bits, 1});
      for (const std::size_t more : {std::size_t{0}, values, 1000 * values}) {
        Table table(limit, has_counts);
        table.reserve(more);
        table.add(entries);
        EXPECT_FALSE(table.is_full()) << values << " " << more;
        table.reserve(more);  // has no room for twice as many
        EXPECT_EQ(table.size(), values);
      }
    }
  }
}

}  // namespace
}  // namespace ooc::detail::distincts
