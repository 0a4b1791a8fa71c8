// Tests Zarr stores of version 2: their arrays and chunks, and headers that are damaged or hostile.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

using Members = std::map<std::string, std::string>;

/// Returns the header of an array of 3 x 5 bytes in chunks of 2 x 4, with other members.
std::string header_of_2(const Members& others = {}) {
  Members members{{"zarr_format", "2"},  {"shape", "[3, 5]"},    {"chunks", "[2, 4]"},
                  {"dtype", R"("|u1")"}, {"fill_value", "7"},    {"order", R"("C")"},
                  {"filters", "null"},   {"compressor", "null"}, {"ignored", "[{}]"}};
  for (const auto& [key, value] : others) members[key] = value;
  std::string text;
  for (const auto& [key, value] : members) {
    if (!value.empty()) text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
  }
  return text + "}";
}

class Zarr2Test : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    directory_.write(name, bytes);
  }

  Source opened(const std::string& name = "") { return open(directory_.path().string() + name); }

  static std::string bytes_of(const Source& source) {
    std::string bytes(source.bytes(), '\0');
    read_exactly(files_of(source).front(), 0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }

  /// Returns why an array with this header is not read; empty if it is.
  std::string why_not(const Members& others) {
    write(".zarray", header_of_2(others));
    const std::filesystem::path path = directory_.path();
    const std::vector<StoredArray> arrays = open_unjudged({&path, 1}, {}).arrays;
    return arrays.empty() ? "" : arrays.front().why_not;
  }

  void expect_refused(const std::string& problem, const std::string& text) {
    SCOPED_TRACE(text.substr(0, 200));
    write(".zarray", text);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(); });
  }

  test::TempDir directory_;
};

TEST_F(Zarr2Test, ReadsChunksWithAnySeparator) {
  for (const std::string separator : {".", "/"}) {
    write(".zarray", header_of_2({{"dimension_separator", '"' + separator + '"'}}));
    write("0" + separator + "0", "abcdefgh");
    write("0" + separator + "1", "ixxxjxxx");
    write("1" + separator + "0", "klmnxxxx");
    const Source source = opened();
    EXPECT_EQ(source.format, "zarr");
    EXPECT_EQ(source.format_version, "2");
    EXPECT_TRUE(source.has_format(FileFormat::zarr));
    EXPECT_EQ(source.name(), directory_.path().string());
    EXPECT_EQ(bytes_of(source), "abcdiefghjklmn\7");
    EXPECT_EQ(bytes_of(opened("/.zarray")), "abcdiefghjklmn\7");
    for (const char* const name : {"0.0", "0.1", "1.0"}) {
      std::filesystem::remove(directory_.path() / name);
    }
  }
}

TEST_F(Zarr2Test, DotsAreTheUsualSeparatorAndScalarsHaveOneChunk) {
  write(".zarray", header_of_2());
  write("1.1", "xxxxxxxx");
  write(".zattrs", "not looked at");
  EXPECT_EQ(bytes_of(opened()), std::string(14, 7) + "x");
  write("scalar/.zarray", header_of_2({{"shape", "[]"}, {"chunks", "[]"}}));
  write("scalar/0", "5");
  EXPECT_EQ(bytes_of(opened("/scalar")), "5");
}

TEST_F(Zarr2Test, GroupsListTheirArrays) {
  write(".zgroup", R"({"zarr_format": 2})");
  write(".zmetadata", "not looked at");
  write("b/.zarray", header_of_2());
  write("a/.zgroup", R"({"zarr_format": 2})");
  write("a/x/.zarray", header_of_2({{"dtype", R"("<c8")"}}));
  write("a/y/.zarray", header_of_2({{"dtype", R"("|b1")"}, {"fill_value", "true"}}));
  write("no/zarr.txt", "");
  const std::filesystem::path path = directory_.path();
  const std::vector<StoredArray> arrays = open_unjudged({&path, 1}, {}).arrays;
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0].name, "a/x");
  EXPECT_EQ(arrays[0].why_not, "'<c8' elements");
  EXPECT_TRUE(arrays[1].type.is_bool);
  EXPECT_EQ(bytes_of(opened("::a/y")), std::string(15, 1));
  EXPECT_EQ(bytes_of(opened("/.zgroup::b")), std::string(15, 7));
  expect_error(ErrorKind::usage, "has 3 arrays", [&] { opened(); });
  write(".zgroup", R"({"zarr_format": 3})");
  expect_error(ErrorKind::bad_input, "expected zarr_format to be 2", [&] { opened(); });
}

TEST_F(Zarr2Test, VersionThreeWinsWhereBothAreThere) {
  write(".zarray", header_of_2());
  write("zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [2],
    "data_type": "uint8", "fill_value": 9, "codecs": ["bytes"], "chunk_key_encoding": "v2",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}})");
  EXPECT_EQ(opened().format_version, "3");
  EXPECT_EQ(bytes_of(opened()), "\t\t");
  EXPECT_EQ(opened("/.zarray").format_version, "2");
  EXPECT_EQ(bytes_of(opened("/.zarray")), std::string(15, 7));
}

TEST_F(Zarr2Test, FillValues) {
  struct Case {
    const char *type, *value;
    std::uint64_t bits;
  };
  for (const auto& [type, value, bits] :
       {Case{">i2", "-2", 0xfffe}, Case{">i4", "5.0", 5}, Case{">f4", "null", 0},
        Case{">f4", R"("NaN")", 0x7fc00000}, Case{">f8", R"("-Infinity")", 0xfff0000000000000},
        Case{">M8[ns]", "-9223372036854775808", 0x8000000000000000}, Case{">m8[s]", "3", 3},
        Case{">M8[s]", "null", 0x8000000000000000}, Case{">m8[s]", R"("NaT")", 0x8000000000000000},
        Case{"|b1", "1", 1}, Case{"|b1", "false", 0}, Case{">f2", "1.5", 0x3e00}}) {
    SCOPED_TRACE(std::string(type) + " " + value);
    write(".zarray", header_of_2({{"shape", "[1]"},
                                  {"chunks", "[1]"},
                                  {"dtype", '"' + std::string(type) + '"'},
                                  {"fill_value", value}}));
    std::uint64_t found = 0;
    for (const char byte : bytes_of(opened())) {
      found = found << 8 | static_cast<std::uint8_t>(byte);
    }
    EXPECT_EQ(found, bits);
  }
  for (const auto& [type, value] : std::map<std::string, std::string>{
           {"|u1", "256"}, {"|i1", "1.5"}, {"<f4", "\"AAAA\""}, {"|b1", "2"}, {"<u2", "true"}}) {
    EXPECT_EQ(why_not({{"dtype", '"' + type + '"'}, {"fill_value", value}}),
              "elements with a fill_value that they cannot have");
  }
}

TEST_F(Zarr2Test, Structs) {
  Members members{{"shape", "[2]"},
                  {"chunks", "[1]"},
                  {"dtype", R"([["x", "<u2"], ["y", "|u1", [2]]])"},
                  {"fill_value", "null"}};
  write(".zarray", header_of_2(members));
  write("1", "abcd");
  ASSERT_TRUE(opened().type()->is_struct());
  EXPECT_EQ(bytes_of(opened()), std::string(4, '\0') + "abcd");
  for (const char* const zeros : {"0", R"("AAAAAA==")"}) {
    members["fill_value"] = zeros;
    EXPECT_EQ(why_not(members), "");
  }
  members["fill_value"] = R"("AAAAAB==")";
  EXPECT_EQ(why_not(members), "structs with a fill_value that is not 0");
  members["dtype"] = R"([["x", "<c8"]])";
  EXPECT_EQ(why_not(members), R"(structs '[["x","<c8"]]')");
  members["dtype"] = R"([["x", [["y", "<f4"]]]])";
  EXPECT_EQ(why_not(members), R"(structs '[["x",[["y","<f4"]]]]')");
}

TEST_F(Zarr2Test, SaysWhyAnArrayIsNotRead) {
  const auto filter = [](const std::string& more) {
    return Members{{"filters", "[" + more + "]"}};
  };
  const auto by = [](const std::string& codec) { return Members{{"compressor", codec}}; };
  for (const char* const id : {"blosc", "gzip", "lz4", "zlib", "zstd"}) {
    EXPECT_EQ(why_not(by(R"({"id": ")" + std::string(id) + R"("})")), "");
  }
  EXPECT_EQ(why_not(filter(R"({"id": "shuffle", "elementsize": 4})")), "");
  EXPECT_EQ(why_not(filter(R"({"id": "shuffle", "elementsize": 0})")), "");
  EXPECT_EQ(why_not(filter(R"({"id": "delta", "dtype": "<f4"})")), "chunks encoded by 'delta'");
  EXPECT_EQ(why_not(by(R"({"id": "lzma"})")), "chunks encoded by 'lzma'");
  EXPECT_EQ(why_not(by(R"({"id": "blosc", "cname": "blosclz"})")),
            "chunks encoded by 'blosc' with 'blosclz'");
  EXPECT_EQ(why_not({{"filters", R"([{"id": "zlib"}])"}, {"compressor", R"({"id": "zstd"})"}}),
            "chunks that are compressed twice");
  EXPECT_EQ(why_not({{"dtype", R"("|S3")"}}), "'|S3' elements");
  EXPECT_EQ(why_not({{"dtype", R"("|O")"}}), "'|O' elements");
  EXPECT_EQ(why_not({{"order", R"("F")"}}), "chunks stored column by column (order F)");
  EXPECT_EQ(why_not({{"order", R"("F")"}, {"chunks", "[2, 1]"}}), "");
  EXPECT_EQ(why_not({{"chunks", "[4294967296, 6]"}}), "chunks of more than 1073741824 bytes");
}

TEST_F(Zarr2Test, RefusesHeadersThatBreakTheRules) {
  expect_refused("is no JSON at byte", "{");
  expect_refused("expected zarr_format to be 2", "[]");
  expect_refused("expected zarr_format to be 2", header_of_2({{"zarr_format", "3"}}));
  expect_refused("expected the key shape", header_of_2({{"shape", ""}}));
  expect_refused("expected chunks of as many lengths", header_of_2({{"chunks", "[2]"}}));
  expect_refused("expected chunks of as many lengths", header_of_2({{"chunks", "[2, 0]"}}));
  expect_refused("expected order to be C or F", header_of_2({{"order", R"("A")"}}));
  expect_refused("expected a dimension_separator",
                 header_of_2({{"dimension_separator", R"("-")"}}));
  expect_refused("expected dtype to be a text", header_of_2({{"dtype", "1"}}));
  expect_refused("expected dtype to be a text", header_of_2({{"dtype", "[]"}}));
  expect_refused("expected fields with a name", header_of_2({{"dtype", R"([["x"]])"}}));
  expect_refused("expected filters to be a list", header_of_2({{"filters", "{}"}}));
  expect_refused("expected the key id", header_of_2({{"compressor", "{}"}}));
  expect_refused("expected the id of a codec", header_of_2({{"compressor", R"({"id": 1})"}}));
  expect_refused("expected elementsize",
                 header_of_2({{"filters", R"([{"id": "shuffle", "elementsize": -1}])"}}));
  expect_refused("a shape of less than 2^64 bytes",
                 header_of_2({{"shape", "[4294967296, 4294967296]"}}));
}

TEST_F(Zarr2Test, FiltersAreUndoneBehindTheCompressor) {
  write(".zarray", header_of_2({{"shape", "[4]"},
                                {"chunks", "[4]"},
                                {"filters", R"([{"id": "shuffle", "elementsize": 2}])"}}));
  write("0", "acbd");
  EXPECT_EQ(bytes_of(opened()), "abcd");
  // The same bytes by Blosc, which copied them.
  write(".zarray", header_of_2({{"shape", "[4]"},
                                {"chunks", "[4]"},
                                {"filters", R"([{"id": "shuffle", "elementsize": 2}])"},
                                {"compressor", R"({"id": "blosc", "cname": "lz4"})"}}));
  write("0", std::string("\2\1\2\1\4\0\0\0\4\0\0\0\x14\0\0\0", 16) + "acbd");
  EXPECT_EQ(bytes_of(opened()), "abcd");
  write("0", "acbd");
  expect_error(ErrorKind::bad_input, "is damaged: blosc: is shorter than its header",
               [&] { bytes_of(opened()); });
}

}  // namespace
}  // namespace ooc::detail
