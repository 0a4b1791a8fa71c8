#include <gtest/gtest.h>

#include <ooc/detail/file/storage_map.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

using PlaceOfByte = std::pair<std::uint32_t, std::uint64_t>;  // file, offset

std::vector<Extent> extents_in(const StorageMap& map) {
  std::vector<Extent> extents;
  for (const Extent& extent : map) extents.push_back(extent);
  return extents;
}

std::vector<PlaceOfByte> bytes_in(const std::vector<Extent>& extents) {
  std::vector<PlaceOfByte> bytes;
  for (const Extent& extent : extents) {
    for (std::uint64_t i = 0; i < extent.bytes; ++i) {
      bytes.emplace_back(extent.file, extent.offset + i);
    }
  }
  return bytes;
}

TEST(StorageMap, OfNothingHasNoExtents) {
  const StorageMap none, empty({{3, 7, 0}});
  StorageMap moved({{0, 0, 5}});
  const StorageMap taken = std::move(moved);
  EXPECT_EQ(taken.bytes(), 5u);
  for (const StorageMap& map : {none, empty, empty.section(0, 0), moved}) {
    EXPECT_EQ(map.bytes(), 0u);
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.front(), (Extent{0, 0, 0}));
    EXPECT_TRUE(extents_in(map).empty());
  }
}

TEST(StorageMap, JoinsExtentsThatFollowOneAnotherInAFile) {
  const StorageMap map({{0, 10, 5}, {0, 15, 5}, {1, 20, 0}, {0, 20, 1}, {1, 21, 4}, {1, 24, 1}});
  EXPECT_EQ(extents_in(map), (std::vector<Extent>{{0, 10, 11}, {1, 21, 4}, {1, 24, 1}}));
  EXPECT_EQ(map.bytes(), 16u);
  EXPECT_EQ(map.end_of(0), 11u);
  EXPECT_EQ(map.index_of(10), 0u);
  EXPECT_EQ(map.index_of(11), 1u);
}

TEST(StorageMap, HasFewerThanTwoToThe64Bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(StorageMap({{0, 0, most}}).bytes(), most);
  test::expect_error(ErrorKind::bad_input, "fewer than 2^64 bytes", [&] {
    StorageMap({{0, 0, most}, {1, 0, 1}});
  });
}

// The expected places come from a walk over the extents, byte by byte.
TEST(StorageMap, SectionsHaveTheirBytesInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Extent> extents(random() % 8);
    for (Extent& extent : extents) {
      extent = {static_cast<std::uint32_t>(random() % 2), random() % 20, random() % 20};
    }
    std::vector<PlaceOfByte> expected = bytes_in(extents);
    StorageMap map(extents);
    while (!expected.empty()) {  // sections of sections
      ASSERT_EQ(bytes_in(extents_in(map)), expected);
      ASSERT_EQ(map.bytes(), expected.size());
      for (std::uint64_t byte = 0; byte < map.bytes(); ++byte) {
        const std::size_t index = map.index_of(byte);
        EXPECT_LT(byte, map.end_of(index));
        EXPECT_GE(byte + map[index].bytes, map.end_of(index));
      }
      const std::uint64_t first = random() % expected.size();
      const std::uint64_t bytes = random() % (expected.size() - first + 1);
      map = map.section(first, bytes);
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(first);
      expected = {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
    }
  }
}

TEST(StorageMap, OfAMillionExtentsIsSharedByItsSections) {
  constexpr std::uint64_t count = 1'000'000, bytes = 4096;
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < count; ++i) extents.push_back({0, (count - i) * bytes, bytes});
  const StorageMap map(extents);
  EXPECT_EQ(map.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(map.section(i * bytes + 1, bytes - 1).front(),
              (Extent{0, (count - i) * bytes + 1, bytes - 1}));
  }
}

}  // namespace
}  // namespace ooc::detail
