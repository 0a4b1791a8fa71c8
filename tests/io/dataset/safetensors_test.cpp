// Tests safetensors files: their arrays, and headers that are damaged or hostile.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;

/// Returns a file with a header, right or wrong, and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data_bytes, 'x');
}

/// Returns an entry of a header.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return '"' + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

const std::string two =
    "{" + entry("w", "F32", "[3,4]", "[8,56]") + "," + entry("b", "I64", "[]", "[0,8]") + "}";

class SafetensorsTest : public testing::Test {
 protected:
  Source opened(const std::string& file, const std::string& name = "", const Format& format = {}) {
    return open(directory_.write("m.safetensors", file).string() + name, format);
  }

  void expect_refused(const std::string& problem, const std::string& header,
                      std::size_t data_bytes = 0) {
    SCOPED_TRACE(header.substr(0, 200));
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file_of(header, data_bytes)); });
  }

  std::vector<StoredArray> listed(const std::string& file) {
    const auto path = directory_.write("m.safetensors", file);
    return open_unjudged({&path, 1}, {}).arrays;
  }

  test::TempDir directory_;
};

TEST_F(SafetensorsTest, AnArrayIsSelectedByItsName) {
  const Source source = opened(file_of(two, 56), "::w");
  EXPECT_EQ(source.type(), parse_dtype("<f4"));
  EXPECT_EQ(source.type_reason, "from its header");
  EXPECT_EQ(std::vector(source.shape().begin(), source.shape().end()),
            (std::vector<std::uint64_t>{3, 4}));
  EXPECT_TRUE(source.has_format(FileFormat::safetensors));
  EXPECT_EQ(source.format, "safetensors");
  EXPECT_EQ(storage_of(source).size(), 1u);
  EXPECT_EQ(storage_of(source).front(), (Extent{0, 8 + two.size() + 8, 48}));
  EXPECT_EQ(source.bytes_behind(), 0u);
  EXPECT_TRUE(source.name().ends_with("/m.safetensors::w"));
  EXPECT_EQ(section(source, 1, 2).name(), source.name());
  EXPECT_EQ(opened(file_of(two, 56), "::b").elements(), 1u);
}

TEST_F(SafetensorsTest, TheOnlyArrayNeedsNoName) {
  const std::string one = "{" + entry("w", "F16", "[2]", "[0,4]") + "}  ";
  EXPECT_EQ(opened(file_of(one, 4)).elements(), 2u);
  EXPECT_EQ(opened(file_of(one, 4), "::w").elements(), 2u);
  EXPECT_EQ(open(directory_.write("m.bin", file_of(one, 4))).type(), parse_dtype("f2"));
  expect_error(ErrorKind::usage, "has no array 'v'", [&] { opened(file_of(one, 4), "::v"); });
  expect_error(ErrorKind::usage, "has 2 arrays", [&] { opened(file_of(two, 56)); });
}

TEST_F(SafetensorsTest, TheErrorListsTheArrays) {
  const auto hint_of = [&](const std::string& file, const std::string& name) {
    try {
      opened(file, name);
    } catch (const Error& error) {
      return error.details().hint;
    }
    return std::string();
  };
  EXPECT_EQ(hint_of(file_of(two, 56), ""), "it has w (float32, 3 x 4), b (int64)");
  std::string many = "{" + entry("weight_20", "F8_E4M3", "[1]", "[20,21]");
  for (int i = 0; i < 20; ++i) {
    const std::string begin = std::to_string(i), end = std::to_string(i + 1);
    many += "," + entry("weight_" + begin, "BOOL", "[1]", "[" + begin + "," + end + "]");
  }
  const std::string hint = hint_of(file_of(many + "}", 21), "::weigth_7");
  EXPECT_TRUE(hint.starts_with("weight_7 is similar; it has weight_20 (F8_E4M3 numbers, 1), "));
  EXPECT_TRUE(hint.ends_with("weight_18 (bool, 1) and 1 more")) << hint;
}

TEST_F(SafetensorsTest, AFileWithTheWholeNameWins) {
  directory_.write("m.safetensors", file_of(two, 56));
  const auto path = directory_.write("m.safetensors::w", file_of(two, 56));
  expect_error(ErrorKind::usage, "has 2 arrays", [&] { open(path); });
  EXPECT_EQ(open(path.string() + "::b").elements(), 1u);
  expect_error(ErrorKind::input, "absent::w", [&] { open(directory_.path() / "absent::w"); });
}

TEST_F(SafetensorsTest, FormatsWithoutNamesHaveNoneToSelect) {
  const auto path = directory_.write("a.u8", "123");
  expect_error(ErrorKind::usage, "has no array 'w'", [&] { open(path.string() + "::w"); });
}

TEST_F(SafetensorsTest, ArraysOfSeveralFilesAreOneSequence) {
  const std::string path = directory_.write("m.safetensors", file_of(two, 56)).string();
  const Source both = open({path + "::w", path + "::w"});
  EXPECT_EQ(both.elements(), 24u);
  EXPECT_EQ(both.columns(), 4u);
  expect_error(ErrorKind::bad_input, "holds <i8, but", [&] { open({path + "::w", path + "::b"}); });
}

TEST_F(SafetensorsTest, KnowsTheTypes) {
  const std::vector<std::pair<const char*, const char*>> types{
      {"F64", "<f8"}, {"F32", "<f4"}, {"F16", "<f2"}, {"BF16", "<bf16"}, {"I64", "<i8"},
      {"I32", "<i4"}, {"I16", "<i2"}, {"I8", "|i1"},  {"U64", "<u8"},    {"U32", "<u4"},
      {"U16", "<u2"}, {"U8", "|u1"},  {"BOOL", "|u1"}};
  for (const auto& [dtype, code] : types) {
    const std::size_t bytes = size_of(parse_dtype(code));
    const std::string offsets = "[0," + std::to_string(bytes) + "]";
    const Source source = opened(file_of("{" + entry("w", dtype, "[1]", offsets) + "}", bytes));
    EXPECT_EQ(code_of(*source.type()), code) << dtype;
    EXPECT_EQ(source.type()->is_bool, std::string_view(dtype) == "BOOL");
  }
  for (const char* dtype : {"F8_E4M3", "F8_E5M2", "Q8"}) {
    const std::string file = file_of("{" + entry("w", dtype, "[2]", "[0,2]") + "}", 2);
    expect_error(ErrorKind::bad_input, "numbers, which are not supported", [&] { opened(file); });
  }
  const std::string half = "{" + entry("w", "F4", "[2,3]", "[0,3]") + "}";
  EXPECT_EQ(listed(file_of(half, 3)).size(), 1u);
}

TEST_F(SafetensorsTest, ListsAllArraysInTheirOrder) {
  const std::string header = R"({"__metadata__":{"format":"pt","__metadata__":"x"},)" +
                             entry("w", "F8_E5M2", "[3]", "[8,11]") + "," +
                             entry("b", "F32", "[0,7]", "[8,8]") + "," +
                             entry("a", "BOOL", "[8]", "[0,8]") + "}";
  const std::vector<StoredArray> arrays = listed(file_of(header, 11));
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0].name, "w");
  EXPECT_EQ(arrays[0].why_not, "F8_E5M2 numbers");
  EXPECT_EQ(arrays[0].offset, 8 + header.size() + 8);
  EXPECT_EQ(arrays[1].bytes, 0u);
  EXPECT_EQ(arrays[1].shape, (std::vector<std::uint64_t>{0, 7}));
  EXPECT_EQ(arrays[2].type_reason, "from its header: bool, 0 or 1");
}

TEST_F(SafetensorsTest, IsRecognisedByItsBeginning) {
  const auto format_of = [&](const std::string& file) {
    return open(directory_.write("m.bin", file), {.type = parse_dtype("u1")}).format;
  };
  const std::string one = "{" + entry("w", "U8", "[2]", "[0,2]") + "}";
  EXPECT_EQ(format_of(file_of(one, 2)), "safetensors");
  EXPECT_EQ(format_of(file_of(one, 0).substr(0, 20)), "raw") << "the header is longer";
  EXPECT_EQ(format_of(std::string("\x10\x01\0\0\0\0\0\x7f", 8) + one), "raw");
  EXPECT_EQ(format_of(file_of("[]", 2)), "raw");
}

TEST_F(SafetensorsTest, DoesNotContradictItsHeader) {
  expect_error(ErrorKind::bad_input, "holds <f4, not the <f8 asked for",
               [&] { opened(file_of(two, 56), "::w", {.type = parse_dtype("f8")}); });
  expect_error(ErrorKind::usage, "an offset is for raw files only", [&] {
    opened(file_of(two, 56), "::w", {.offset = 8, .file = FileFormat::safetensors});
  });
  const Format bytes{.type = parse_dtype("u1"), .offset = 8};
  EXPECT_EQ(opened(file_of(two, 56), "", bytes).elements(), two.size() + 56);
  EXPECT_EQ(opened(file_of(two, 56), "::w", {.skip = 2, .count = 3}).elements(), 3u);
  const Format raw{.type = parse_dtype("u1"), .file = FileFormat::raw};
  EXPECT_EQ(opened(file_of(two, 56), "", raw).elements(), 8 + two.size() + 56);
}

TEST_F(SafetensorsTest, RefusesDamagedBeginnings) {
  const auto expect = [&](const std::string& problem, const std::string& file) {
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file); });
  };
  expect("has no header", "");
  expect("has no header", std::string(7, '\0'));
  expect("ends within its safetensors header", std::string("\x04\0\0\0\0\0\0\0{", 9));
  expect("claims 100000001 bytes", std::string("\x01\xe1\xf5\x05\0\0\0\0{", 9));
  expect("claims 18446744073709551615 bytes", std::string(8, '\xff') + "{\"");
  expect("ends within its safetensors header", std::string("\0\xe1\xf5\x05\0\0\0\0{\"", 10));
}

TEST_F(SafetensorsTest, RefusesHeadersThatAreNotUnderstood) {
  for (const char* header :
       {"", "[]", " {}", "{", "{\"w\":", "{}x", "{\"w\":1}", "{\"w\":null}", "{\"w\":\"x\"}",
        "{\"w\":[1]}", "{\"w\":{}}", "{\"w\":{\"dtype\":{}}}", "{\"__metadata__\":{\"a\":{}}}",
        "{\"__metadata__\":{\"a\":1}}", "{\"\\u0000\":{}}", "{\"\xff\":{}}"}) {
    expect_refused("safetensors header not understood", header);
  }
  const auto expect = [&](const std::string& problem, const std::string& entries) {
    expect_refused("expected " + problem, "{" + entries + "}", 8);
  };
  expect("each of the keys", R"("w":{"dtype":"U8","dtype":"U8"})");
  expect("each of the keys", R"("w":{"type":"U8"})");
  expect("the keys dtype", R"("w":{"dtype":"U8","shape":[8]})");
  for (const char* shape : {"8", "\"8\"", "[8.0]", "[-8]", "[[8]]", "[\"8\"]", "[null]", "{}",
                            "[18446744073709551616]"}) {
    expect("an object of dtype", entry("w", "U8", shape, "[0,8]"));
  }
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  expect("no more than 64 numbers in a list", entry("w", "U8", ones + "]", "[0,1]"));
  expect("each name once", entry("w", "U8", "[4]", "[0,4]") + "," +
                               entry("v", "U8", "[4]", "[4,8]") + "," +
                               entry("w", "U8", "[0]", "[8,8]"));
  expect_refused("not understood", std::string(100'000, '['));
  expect_refused("not understood", "{\"w\":" + std::string(100'000, '['));
  expect_refused("not understood", "{\"__metadata__\":" + std::string(100'000, '{'));
}

TEST_F(SafetensorsTest, RefusesSizesThatDoNotFit) {
  for (const char* offsets : {"[]", "[0]", "[8,0]", "[0,4,8]", "[8,18446744073709551615]"}) {
    expect_refused("two data_offsets", "{" + entry("w", "U8", "[8]", offsets) + "}", 8);
  }
  const auto expect = [&](const std::string& dtype, const std::string& shape,
                          const std::string& offsets) {
    expect_refused("data_offsets that fit", "{" + entry("w", dtype, shape, offsets) + "}", 8);
  };
  expect("U8", "[7]", "[0,8]");
  expect("F32", "[3]", "[0,8]");
  expect("F4", "[3]", "[0,1]");
  expect("U8", "[9223372036854775808,2]", "[0,0]");
  expect("F64", "[9223372036854775808]", "[0,0]");
  expect("U8", "[4294967296,4294967296]", "[0,0]");
}

TEST_F(SafetensorsTest, RefusesGapsAndOverlaps) {
  const auto header_of = [](const std::string& first, const std::string& second) {
    return "{" + entry("v", "U8", "[4]", first) + "," + entry("w", "U8", "[4]", second) + "}";
  };
  EXPECT_EQ(listed(file_of(header_of("[4,8]", "[0,4]"), 8)).size(), 2u);
  expect_refused("its arrays overlap", header_of("[0,4]", "[3,7]"), 8);
  expect_refused("its arrays overlap", header_of("[0,4]", "[0,4]"), 8);
  expect_refused("no array has byte", header_of("[0,4]", "[5,9]"), 9);
  expect_refused("no array has byte", header_of("[1,5]", "[5,9]"), 9);
  expect_refused("has bytes behind its arrays: 1", header_of("[0,4]", "[4,8]"), 9);
  expect_refused("is truncated", header_of("[0,4]", "[4,8]"), 7);
}

TEST_F(SafetensorsTest, AStreamOfOneArrayIsRead) {
  const std::string file = file_of("{" + entry("w", "U8", "[8]", "[0,8]") + "}", 8);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], file.data(), file.size()), static_cast<ssize_t>(file.size()));
  ::close(ends[1]);
  const Source source = open(read_descriptor(ends[0], "a pipe"));
  EXPECT_EQ(source.type(), parse_dtype("u1"));
  EXPECT_EQ(source.format, "safetensors");
  EXPECT_EQ(source.shape().size(), 1u);
  std::vector<std::byte> room(100);
  EXPECT_EQ(SourceAccess::producer(source)->fill(room, {}), 8u);
  ::close(ends[0]);
}

}  // namespace
}  // namespace ooc::detail
