// Tests extent tables, which helper programs print: arrays in one piece and in chunks, and tables
// that are damaged or hostile. cli_hdf5_test has those of HDF5 files.

#include "dataset/formats/extent_table.hpp"

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "io/little_endian.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::little;

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

constexpr std::pair<std::uint64_t, std::uint64_t> not_stored{~0ull, ~0ull};

std::string table_of(const std::string& arrays, const Places& places = {}) {
  std::string text = R"({"schema":"ooc.extents/1","files":["x"],"arrays":[)" + arrays + "]}\n";
  for (const auto& [offset, bytes] : places) text += little(offset, 8) + little(bytes, 8);
  return text;
}

/// A file of 200 bytes, each of which is its offset.
class ExtentTableTest : public testing::Test {
 protected:
  ExtentTableTest() {
    std::string bytes(200, '\0');
    std::iota(bytes.begin(), bytes.end(), '\0');
    path_ = directory_.write("x", test::bytes_of(bytes));
  }

  std::vector<StoredArray> parse(const std::string& table) const {
    return parse_extent_table(table, path_, 200);
  }

  /// Returns the elements of a table's only array of bytes.
  std::vector<int> read(const std::string& table) const {
    const StoredArray array = parse(table).front();
    EXPECT_EQ(array.why_not, "");
    const File file = open_extents(File::open(path_), array);
    std::vector<std::byte> bytes(array.bytes);
    read_exactly(file, array.offset, bytes);
    std::vector<int> elements;
    for (const std::byte each : bytes) elements.push_back(std::to_integer<int>(each));
    return elements;
  }

  void refuse(const std::string& what, const std::string& arrays, const Places& places = {}) {
    expect_error(ErrorKind::bad_input, what, [&] { parse(table_of(arrays, places)); });
  }

  test::TempDir directory_;
  std::filesystem::path path_;
};

TEST_F(ExtentTableTest, AnArrayInOnePieceIsBytesOfTheFile) {
  const std::string array = R"({"name":"/a","dtype":"|u1","shape":[2,2],"extents":[[0,50,4]]})";
  EXPECT_EQ(read(table_of(array)), (std::vector<int>{50, 51, 52, 53}));
  EXPECT_EQ(parse(table_of(array)).front().offset, 50u);
  EXPECT_EQ(parse(table_of(array)).front().chunks, nullptr);
}

TEST_F(ExtentTableTest, ChunksArePutIntoOrder) {
  const std::string slabs =
      R"({"name":"/a","dtype":"|u1","shape":[3,2],"chunks":[2,2],"entries":2,"fill":9})";
  EXPECT_EQ(read(table_of(slabs, {{20, 4}, {10, 4}})), (std::vector<int>{20, 21, 22, 23, 10, 11}));
  EXPECT_EQ(read(table_of(slabs, {not_stored, {10, 4}})), (std::vector<int>{9, 9, 9, 9, 10, 11}));
  const std::string tiles =
      R"({"name":"/a","dtype":"|u1","shape":[2,3],"chunks":[2,2],"entries":2,"codecs":[]})";
  EXPECT_EQ(read(table_of(tiles, {{0, 4}, {100, 4}})), (std::vector<int>{0, 1, 100, 2, 3, 102}));
}

TEST_F(ExtentTableTest, CodecsAreInTheOrderOfEncoding) {
  const std::string array = R"({"name":"/a","dtype":"|u1","shape":[4],"chunks":[4],"entries":1,)"
                            R"("codecs":[["shuffle",2],["fletcher32"]]})";
  std::string bytes = std::string("\x01\x03\x02\x04", 4);  // its sums: 0x0103 + 0x0204, 0x0408
  bytes += std::string("\x07\x03\x0a\x04", 4);
  path_ = directory_.write("y", test::bytes_of(bytes));
  EXPECT_EQ(read(table_of(array, {{0, 8}})), (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(ExtentTableTest, ChunksMaySkipCodecs) {
  const std::string array = R"({"name":"/a","dtype":"|u1","shape":[8],"chunks":[4],"entries":2,)"
                            R"("codecs":[["shuffle",2],["fletcher32"]]})";
  path_ = directory_.write(
      "y", test::bytes_of(std::string("\x01\x02\x03\x04", 4) + std::string("\x01\x03\x02\x04", 4) +
                          std::string("\x07\x03\x0a\x04", 4)));
  EXPECT_EQ(read(table_of(array, {{0, 3ull << 32 | 4}, {4, 8}})),
            (std::vector<int>{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(read(table_of(array, {{0, 2ull << 32 | 4}, {4, 1ull << 32 | 8}})),
            (std::vector<int>{1, 3, 2, 4, 1, 3, 2, 4}));
}

TEST_F(ExtentTableTest, ArraysThatAreNotStoredAreTheirFillValue) {
  EXPECT_EQ(read(table_of(R"({"name":"/a","dtype":"|u1","shape":[3],"extents":[],"fill":7})")),
            (std::vector<int>{7, 7, 7}));
  const StoredArray large =
      parse(table_of(R"({"name":"/a","dtype":"<f8","shape":[1000000000,100],"extents":[]})"))
          .front();
  EXPECT_EQ(open_extents(File::open(path_), large).size(), 800'000'000'000u);
}

TEST_F(ExtentTableTest, AnotherNameOfAnArray) {
  const auto arrays =
      parse(table_of(R"({"name":"/a","dtype":"<f4","shape":[9],"extents":[[0,0,36]]},)"
                     R"({"name":"/b","alias":"/a"})"));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[1].name, "/b");
  EXPECT_EQ(arrays[1].bytes, 36u);
}

TEST_F(ExtentTableTest, ListsWhatCannotBeRead) {
  const auto why_not = [&](const std::string& array, const Places& places) {
    return parse(table_of(array, places)).front().why_not;
  };
  const std::string array = R"({"name":"/a","dtype":"|u1","shape":[4],"chunks":[4],"entries":1,)";
  EXPECT_EQ(why_not(R"({"name":"/a","why_not":"strings","shape":[3]})", {}), "strings");
  EXPECT_EQ(why_not(array + R"("codecs":[["szip"]]})", {{0, 4}}), "chunks encoded by 'szip'");
  EXPECT_EQ(why_not(array + R"("codecs":[["zstd"],["lz4"]]})", {{0, 4}}),
            "chunks that are compressed twice");
  EXPECT_EQ(why_not(R"({"name":"/a","dtype":"<f8","shape":[4],"chunks":[1000000000],"entries":1})",
                    {not_stored}),
            "chunks of more than 1073741824 bytes");
}

TEST_F(ExtentTableTest, RefusesPlacesThatAreNotThere) {
  const std::string piece = R"({"name":"/a","dtype":"|u1","shape":[4],"extents":[[0,)";
  refuse("bytes from 197 on are not there", piece + "197,4]]}");
  refuse("bytes from 18446744073709551615 on", piece + "18446744073709551615,4]]}");
  refuse("expected an extent to be", piece + "0,5]]}");
  refuse("overlap at byte 3",
         piece + R"(0,4]]},{"name":"/b","dtype":"|u1","shape":[2],)" + R"("extents":[[0,3,2]]})");
  const std::string chunks = R"({"name":"/a","dtype":"|u1","shape":[8],"chunks":[4],"entries":2})";
  refuse("overlap at byte 3", chunks, {{0, 4}, {3, 4}});
  refuse("bytes from 199 on", chunks, {{0, 4}, {199, 4}});
  refuse("expected chunks that have bytes", chunks, {{0, 4}, {8, 0}});
  refuse("bytes from 8 on", chunks, {{0, 4}, {8, 0xffffffff}});
  refuse("and skip codecs that there are", chunks, {{0, 4}, {8, ~0ull}});
  refuse("and skip codecs that there are", chunks, {{0, 4}, {8, 1ull << 32 | 4}});
  refuse("expected a place of each chunk", chunks, {{0, 4}});
  refuse("expected no bytes behind the places", chunks, {{0, 4}, {4, 4}, {8, 4}});
}

TEST_F(ExtentTableTest, RefusesWhatBreaksARule) {
  const std::string array = R"("dtype":"|u1","shape":[4],"extents":[[0,0,4]]})";
  refuse("expected each name once", R"({"name":"/a",)" + array + R"(,{"name":"/a",)" + array);
  refuse("expected the key name", "{" + array);
  refuse("expected an alias of an array before it", R"({"name":"/a","alias":"/a"})");
  refuse("a shape of less than 2^64 bytes",
         R"({"name":"/a","dtype":"|u1","shape":[4294967296,4294967296],"extents":[]})");
  refuse("expected chunks of as many lengths",
         R"({"name":"/a","dtype":"|u1","shape":[4],"chunks":[0],"entries":1})");
  refuse("a fill value that elements can have",
         R"({"name":"/a","dtype":"|u1","shape":[4],"extents":[],"fill":256})");
  refuse(
      "expected the size of elements behind shuffle",
      R"({"name":"/a","dtype":"|u1","shape":[4],"chunks":[4],"entries":1,"codecs":[["shuffle"]]})");
  const auto fails = [&](const std::string& what, const std::string& table) {
    expect_error(ErrorKind::bad_input, what, [&] { parse(table); });
  };
  fails("expected a line", "");
  fails("expected a line", std::string(17 * MiB, ' ') + "\n");
  fails("is no JSON", "{\n");
  fails("expected the schema ooc.extents/1", "[]\n");
  fails("expected one file", R"({"schema":"ooc.extents/1","files":[],"arrays":[]})"
                             "\n");
  fails("expected a list of arrays", R"({"schema":"ooc.extents/1","files":["x"],"arrays":7})"
                                     "\n");
}

}  // namespace
}  // namespace ooc::detail
