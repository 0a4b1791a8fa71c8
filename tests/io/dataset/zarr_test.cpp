// Tests Zarr stores: their arrays, chunks and shards, and headers that are damaged or hostile.

#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
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

/// Returns the header of an array of 5 x 6 bytes in chunks of 2 x 4, with other members.
std::string header(const Members& others = {}) {
  Members members{
      {"zarr_format", "3"},
      {"node_type", R"("array")"},
      {"shape", "[5, 6]"},
      {"data_type", R"("uint8")"},
      {"chunk_grid", R"({"name": "regular", "configuration": {"chunk_shape": [2, 4]}})"},
      {"chunk_key_encoding", R"({"name": "default"})"},
      {"fill_value", "7"},
      {"codecs", R"([{"name": "bytes"}])"}};
  for (const auto& [key, value] : others) members[key] = value;
  std::string text;
  for (const auto& [key, value] : members) {
    if (!value.empty()) text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
  }
  return text + "}";
}

/// Returns the member of a header for chunks of a shape.
std::string grid(const std::string& chunk) {
  return R"({"name": "regular", "configuration": {"chunk_shape": )" + chunk + "}}";
}

const std::string group = R"({"zarr_format": 3, "node_type": "group", "attributes": {"a": [{}]}})";

class ZarrTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    directory_.write(name, bytes);
  }

  /// Writes the chunks of an array of 5 x 6 bytes, whose values are their indices.
  void write_chunks(const std::string& directory) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 2; ++x) {
        std::string chunk;
        for (std::size_t i = 0; i < 8; ++i) {
          chunk += static_cast<char>((2 * y + i / 4) * 6 + 4 * x + i % 4);
        }
        write(directory + "/c/" + std::to_string(y) + "/" + std::to_string(x), chunk);
      }
    }
  }

  Source opened(const std::string& name = "", const Format& format = {}) {
    return open(directory_.path().string() + name, format);
  }

  static std::string bytes_of(const Source& source) {
    std::string bytes(source.bytes(), '\0');
    read_exactly(files_of(source).front(), 0, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }

  /// Returns why an array with this header is not read; empty if it is.
  std::string why_not(const Members& others) {
    write("zarr.json", header(others));
    const std::filesystem::path path = directory_.path();
    const std::vector<StoredArray> arrays = open_unjudged({&path, 1}, {}).arrays;
    return arrays.empty() ? "" : arrays.front().why_not;
  }

  void expect_refused(const std::string& problem, const std::string& text) {
    SCOPED_TRACE(text.substr(0, 200));
    write("zarr.json", text);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(); });
  }

  test::TempDir directory_;
};

std::string counted(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST_F(ZarrTest, ReadsTilesInTheOrderOfRows) {
  write("zarr.json", header());
  write_chunks(".");
  const Source source = opened();
  EXPECT_EQ(source.format, "zarr");
  EXPECT_EQ(source.format_version, "3");
  EXPECT_TRUE(source.has_format(FileFormat::zarr));
  EXPECT_EQ(source.name(), directory_.path().string());
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(bytes_of(source), counted(30));
  EXPECT_FALSE(source.check_unchanged());
  EXPECT_EQ(bytes_of(opened("/zarr.json")), counted(30));
  std::string rows(12, '\0');
  read_exactly(files_of(source).front(), 9, std::as_writable_bytes(std::span(rows)));
  EXPECT_EQ(rows, counted(30).substr(9, 12));
}

TEST_F(ZarrTest, MissingChunksAreTheFillValue) {
  write("zarr.json", header());
  write_chunks(".");
  std::filesystem::remove(directory_.path() / "c/1/1");
  std::filesystem::remove_all(directory_.path() / "c/2");
  std::string expected = counted(24) + std::string(6, 7);
  for (const std::size_t i : {16u, 17u, 22u, 23u}) expected[i] = 7;
  EXPECT_EQ(bytes_of(opened()), expected);
}

TEST_F(ZarrTest, ChunksOfAllDimensions) {
  struct Case {
    const char *shape, *chunk, *first;
    std::size_t chunks;
  };
  for (const auto& [shape, chunk, first, chunks] :
       {Case{"[5, 6]", "[2, 6]", "c/0/0", 3}, Case{"[5, 6]", "[9, 9]", "c/0/0", 1},
        Case{"[2, 5, 3]", "[1, 2, 3]", "c/0/0/0", 6}, Case{"[30]", "[7]", "c/0", 5},
        Case{"[2, 3, 5]", "[1, 1, 5]", "c/0/0/0", 6}, Case{"[2, 3, 5]", "[2, 3, 2]", "c/0/0/0", 3},
        Case{"[]", "[]", "c", 1}, Case{"[0, 3]", "[1, 1]", "c/0/0", 0}}) {
    SCOPED_TRACE(std::string(shape) + chunk);
    std::filesystem::remove_all(directory_.path() / "c");
    write("zarr.json", header({{"shape", shape}, {"chunk_grid", grid(chunk)}}));
    if (chunks > 1) write(first, "x");
    if (chunks > 1) {
      // A chunk of another size is no copy of the bytes.
      expect_error(ErrorKind::bad_input, "piece 0 is damaged", [&] { bytes_of(opened()); });
      std::filesystem::remove_all(directory_.path() / "c");
    }
    const Source source = opened();
    const EncodedArray& array = *files_of(source).front().encoded();
    EXPECT_EQ(array.size(), source.bytes());
    EXPECT_EQ(bytes_of(source), std::string(source.bytes(), 7));
  }
}

TEST_F(ZarrTest, NamesOfChunks) {
  const std::string a = counted(6), b = counted(12).substr(6);
  const Members rows{{"shape", "[2, 6]"}, {"chunk_grid", grid("[1, 6]")}};
  const std::map<std::string, std::string> encodings{
      {"c/0/0", R"({"name": "default", "configuration": {"separator": "/"}})"},
      {"c.0.0", R"({"name": "default", "configuration": {"separator": "."}})"},
      {"0.0", R"({"name": "v2"})"},
      {"0/0", R"({"name": "v2", "configuration": {"separator": "/"}})"}};
  for (const auto& [name, encoding] : encodings) {
    Members members = rows;
    members["chunk_key_encoding"] = encoding;
    std::string second = name;
    second[second.find('0')] = '1';
    write(name + "x/zarr.json", header(members));
    write(name + "x/" + name, a);
    write(name + "x/" + second, b);
    write(name + "x/" + second + "0", "ignored");
    write(name + "x/0" + second, "ignored");
    EXPECT_EQ(bytes_of(open(directory_.path() / (name + "x"))), a + b) << name;
  }
}

TEST_F(ZarrTest, GroupsListTheirArrays) {
  write("zarr.json", group);
  write("b/zarr.json", header());
  write("a/zarr.json", group);
  write("a/x/zarr.json", header({{"data_type", R"("complex64")"}}));
  write("a/y/zarr.json", header({{"data_type", R"("bool")"}, {"fill_value", "true"}}));
  write("no/zarr.txt", "");
  std::filesystem::create_directory_symlink(directory_.path() / "b", directory_.path() / "link");
  const std::filesystem::path path = directory_.path();
  const std::vector<StoredArray> arrays = open_unjudged({&path, 1}, {}).arrays;
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0].name, "a/x");
  EXPECT_EQ(arrays[0].why_not, "'complex64' numbers");
  EXPECT_TRUE(arrays[1].type.is_bool);
  EXPECT_EQ(arrays[2].bytes, 30u);
  EXPECT_EQ(bytes_of(opened("::a/y")), std::string(30, 1));
  EXPECT_TRUE(opened("::b").name().ends_with("::b"));
  expect_error(ErrorKind::usage, "has 3 arrays", [&] { opened(); });
  expect_error(ErrorKind::usage, "has no array '../b'", [&] { opened("::../b"); });
  expect_error(ErrorKind::bad_input, "a/x holds 'complex64' numbers", [&] { opened("::a/x"); });
}

/// Returns a number as eight bytes, little-endian.
std::string word(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return bytes;
}

std::string sharding(const std::string& place, const std::string& index_codecs) {
  return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
             "codecs": ["bytes"], "index_location": ")" +
         place + R"(", "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}})" +
         index_codecs + "]}}]";
}

TEST_F(ZarrTest, ShardsHaveAnIndex) {
  constexpr std::uint64_t missing = ~std::uint64_t{0};
  const Members members{
      {"shape", "[2, 3]"}, {"chunk_grid", grid("[2, 4]")}, {"codecs", sharding("end", "")}};
  write("zarr.json", header(members));
  const auto index = [](std::uint64_t first, std::uint64_t second) {
    return word(first) + word(4) + word(second) + word(second == missing ? missing : 4);
  };
  write("c/0/0", "????abcdexgx" + index(4, 8));
  EXPECT_EQ(bytes_of(opened()), "abecdg");
  write("c/0/0", "abcd" + index(0, missing));
  EXPECT_EQ(bytes_of(opened()), "ab\7cd\7");
  write("c/0/0", "abcd" + index(0, 33));
  expect_error(ErrorKind::bad_input, "piece 1 is not in its file", [&] { opened(); });
  write("c/0/0", "abcd" + word(0) + word(0) + word(missing) + word(missing));
  expect_error(ErrorKind::bad_input, "has a chunk without bytes", [&] { opened(); });
  write("c/0/0", "short");
  expect_error(ErrorKind::bad_input, "is shorter than the index", [&] { opened(); });
  Members first = members;
  first["codecs"] = sharding("start", "");
  write("zarr.json", header(first));
  write("c/0/0", index(32, 36) + "abcdexgx");
  EXPECT_EQ(bytes_of(opened()), "abecdg");
  first["codecs"] = sharding("start", R"(, "crc32c")");
  write("zarr.json", header(first));
  write("c/0/0", index(36, 40) + "sum?abcdexgx");
  expect_error(ErrorKind::bad_input, "the index of its chunks is damaged: crc32c",
               [&] { opened(); });
}

TEST_F(ZarrTest, AChunkThatChangesIsAnError) {
  write("zarr.json", header());
  write_chunks(".");
  const Source source = opened();
  write("c/1/0", "12345678");
  std::filesystem::last_write_time(
      directory_.path() / "c/1/0",
      std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  expect_error(ErrorKind::input_changed, "c/1/0: changed", [&] { bytes_of(source); });
  std::filesystem::remove(directory_.path() / "c/1/0");
  expect_error(ErrorKind::input_changed, "c/1/0: changed", [&] { bytes_of(source); });
  std::filesystem::create_symlink("../0/0", directory_.path() / "c/1/0");
  expect_error(ErrorKind::bad_input, "c/1/0: is a symbolic link", [&] { opened(); });
  std::filesystem::remove_all(directory_.path() / "c/1");
  std::filesystem::create_directory_symlink("0", directory_.path() / "c/1");
  expect_error(ErrorKind::bad_input, "c/1: is a symbolic link", [&] { opened(); });
  std::filesystem::remove(directory_.path() / "c/1");
  write("c/2/0", "");
  expect_error(ErrorKind::bad_input, "c/2/0: is no file with a chunk", [&] { opened(); });
}

TEST_F(ZarrTest, FillValues) {
  struct Case {
    const char *type, *value;
    std::uint64_t bits;
  };
  for (const auto& [type, value, bits] :
       {Case{"int8", "-128", 0x80}, Case{"uint16", "65535", 0xffff},
        Case{"int32", "-2", 0xfffffffe}, Case{"uint64", "18446744073709551615", ~0ull},
        Case{"float32", "1", 0x3f800000}, Case{"float32", R"("NaN")", 0x7fc00000},
        Case{"float32", R"("0xffc00001")", 0xffc00001},
        Case{"float64", R"("-Infinity")", 0xfff0000000000000}, Case{"float16", "-0.0", 0x8000},
        Case{"float16", "0.0999755859375", 0x2e66}, Case{"bfloat16", R"("Infinity")", 0x7f80},
        Case{"bfloat16", R"("NaN")", 0x7fc0}, Case{"bool", "true", 1}}) {
    SCOPED_TRACE(std::string(type) + " " + value);
    const Members members{{"shape", "[1]"},
                          {"chunk_grid", grid("[1]")},
                          {"data_type", '"' + std::string(type) + '"'},
                          {"codecs", R"([{"name": "bytes", "configuration": {"endian": "big"}}])"},
                          {"fill_value", value}};
    write("zarr.json", header(members));
    const Source source = opened();
    EXPECT_EQ(source.type()->swapped, std::endian::native == std::endian::little);
    std::string found = bytes_of(source);
    std::ranges::reverse(found);
    EXPECT_EQ(found, word(bits).substr(0, found.size()));
  }
  for (const auto& [type, value] : std::map<std::string, std::string>{{"int8", "128"},
                                                                      {"uint8", "-1"},
                                                                      {"int16", "1.5"},
                                                                      {"uint32", "\"NaN\""},
                                                                      {"float16", "0.1"},
                                                                      {"float32", R"("0x7fc0")"},
                                                                      {"float64", "[]"},
                                                                      {"bool", "1"}}) {
    expect_refused("a fill_value that the data_type can have",
                   header({{"data_type", '"' + type + '"'},
                           {"codecs", R"([{"name": "bytes", "configuration": {"endian": "big"}}])"},
                           {"fill_value", value}}));
  }
}

TEST_F(ZarrTest, SaysWhyAnArrayIsNotRead) {
  const auto codecs = [](const std::string& more) {
    return Members{{"codecs", R"([{"name": "bytes"}, )" + more + "]"}};
  };
  EXPECT_EQ(why_not({}), "");
  EXPECT_EQ(why_not({{"ignored", R"({"must_understand": false})"}}), "");
  EXPECT_EQ(why_not(codecs(R"({"name": "crc32c"})")), "");
  EXPECT_EQ(why_not({{"data_type", R"({"name": "numpy.datetime64"})"}}),
            "'numpy.datetime64' numbers");
  EXPECT_EQ(why_not({{"chunk_grid", R"({"name": "rectangular"})"}}),
            "chunks of a grid 'rectangular'");
  EXPECT_EQ(why_not({{"chunk_key_encoding", R"("other")"}}), "chunks with names 'other'");
  EXPECT_EQ(why_not({{"new", "{}"}}), "data described by 'new'");
  EXPECT_EQ(why_not({{"storage_transformers", R"([{"name": "x"}])"}}),
            "chunks behind storage transformers");
  EXPECT_EQ(why_not({{"codecs", R"([{"name": "transpose"}, {"name": "bytes"}])"}}),
            "chunks encoded by 'transpose'");
  EXPECT_EQ(why_not(codecs(R"({"name": "blosc", "configuration": {"cname": "lz4"}})")), "");
  EXPECT_EQ(why_not(codecs(R"({"name": "blosc", "configuration": {"cname": "snappy"}})")),
            "chunks encoded by 'blosc' with 'snappy'");
  EXPECT_EQ(why_not(codecs(R"({"name": "numcodecs.lz4"})")), "chunks encoded by 'numcodecs.lz4'");
  EXPECT_EQ(why_not(codecs(R"("zstd", "gzip")")), "chunks that are compressed twice");
  EXPECT_EQ(why_not({{"chunk_grid", grid("[4, 4]")},
                     {"codecs", sharding("end", R"(, {"name": "zstd"})")}}),
            "shards whose index is encoded");
  EXPECT_EQ(why_not({{"shape", "[4294967296, 6]"}, {"chunk_grid", grid("[1, 6]")}}),
            "more than 16777216 chunks");
  EXPECT_EQ(why_not({{"chunk_grid", grid("[4294967296, 6]")}}),
            "chunks of more than 1073741824 bytes");
  EXPECT_TRUE(why_not({{"shape", "[100000, 100000]"}, {"chunk_grid", grid("[20000, 50000]")}})
                  .starts_with("tiles of which those with the same rows take 2000000000 bytes"));
}

TEST_F(ZarrTest, RefusesHeadersThatBreakTheRules) {
  expect_refused("is no JSON at byte", "{");
  expect_refused("expected zarr_format to be 3", "[]");
  expect_refused("expected zarr_format to be 3", header({{"zarr_format", "2"}}));
  expect_refused("expected the key node_type", header({{"node_type", ""}}));
  expect_refused("expected node_type to be", header({{"node_type", "1"}}));
  expect_refused("has the key 'shape' twice", "{\"shape\": [], " + header().substr(1));
  expect_refused("is deeper than 32 levels", header({{"attributes", std::string(500, '[')}}));
  expect_refused("shapes of no more than 64", header({{"shape", "[-1, 6]"}}));
  expect_refused("shapes of no more than 64", header({{"shape", "[18446744073709551616, 6]"}}));
  expect_refused("a shape of less than 2^64 bytes",
                 header({{"shape", "[4294967296, 4294967296]"}}));
  expect_refused("expected a chunk_shape", header({{"chunk_grid", grid("[0, 6]")}}));
  expect_refused("expected a chunk_shape", header({{"chunk_grid", grid("[6]")}}));
  expect_refused("expected endian", header({{"data_type", R"("int16")"}}));
  expect_refused("expected codecs", header({{"codecs", "[]"}}));
  expect_refused("expected names", header({{"codecs", R"([{"name": 1}])"}}));
  expect_refused("expected shards of whole chunks",
                 header({{"chunk_grid", grid("[2, 3]")}, {"codecs", sharding("end", "")}}));
  expect_refused("expected an index_location",
                 header({{"chunk_grid", grid("[2, 4]")}, {"codecs", sharding("middle", "")}}));
  write("zarr.json", header());
  expect_error(ErrorKind::usage, "an offset is for raw files only",
               [&] { opened("", {.offset = 1, .file = FileFormat::zarr}); });
  std::filesystem::remove(directory_.path() / "zarr.json");
  expect_error(ErrorKind::bad_input, "is a directory", [&] { opened(); });
}

}  // namespace
}  // namespace ooc::detail
