// Tests slices of arrays: which elements they select, and texts and slices that are refused.

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using Lengths = std::vector<std::uint64_t>;

class SliceTest : public testing::Test {
 protected:
  /// Opens a slice of an array of int16, whose data begin at byte 128.
  Source sliced(const std::string& shape, std::uint64_t elements, const std::string& slice) {
    const std::string file =
        test::npy(test::header_of("'<i2'", "False", shape), static_cast<std::size_t>(2 * elements));
    data_offset_ = file.size() - 2 * elements;
    return open(directory_.write("a.npy", file).string() + slice);
  }

  /// Checks the first element, the number of elements and the shape of a slice.
  void expect_slice(const std::string& shape, std::uint64_t all, const std::string& slice,
                    std::uint64_t first, const Lengths& expected) {
    SCOPED_TRACE(shape + slice);
    const Source source = sliced(shape, all, slice);
    std::uint64_t elements = 1;
    for (const std::uint64_t length : expected) elements *= length;
    EXPECT_EQ(Lengths(source.shape().begin(), source.shape().end()), expected);
    EXPECT_EQ(source.elements(), elements);
    ASSERT_EQ(storage_of(source).size(), elements == 0 ? 0u : 1u);
    if (elements == 0) return;
    EXPECT_EQ(storage_of(source).front().offset, data_offset_ + 2 * first);
  }

  test::TempDir directory_;
  std::uint64_t data_offset_ = 0;
};

TEST_F(SliceTest, SelectsAsNumPyDoes) {
  expect_slice("(10,)", 10, "[2:5]", 2, {3});
  expect_slice("(10,)", 10, "::[2:5]", 2, {3});
  expect_slice("(10,)", 10, "[ 2 : 5 ]", 2, {3});
  expect_slice("(10,)", 10, "[:5:1]", 0, {5});
  expect_slice("(10,)", 10, "[7:]", 7, {3});
  expect_slice("(10,)", 10, "[:]", 0, {10});
  expect_slice("(10,)", 10, "[...]", 0, {10});
  expect_slice("(10,)", 10, "[-3:-1]", 7, {2});
  expect_slice("(10,)", 10, "[-99:99]", 0, {10});
  expect_slice("(10,)", 10, "[5:2]", 0, {0});
  expect_slice("(10,)", 10, "[99:]", 0, {0});
  expect_slice("(10,)", 10, "[-1]", 9, {});
  expect_slice("(10,)", 10, "[-9223372036854775808:9223372036854775807]", 0, {10});
  expect_slice("(10,)", 10, "[-99999999999999999999:99999999999999999999]", 0, {10});
  expect_slice("(10,)", 10, "[1:2,]", 1, {1});
  expect_slice("(0,)", 0, "[2:5]", 0, {0});
}

TEST_F(SliceTest, SelectsElementsThatAreEquallyFarApart) {
  // The shape, all elements, a slice, its length, and the elements of a record and before it.
  struct Case {
    std::string shape;
    std::uint64_t all;
    std::string slice;
    Lengths expected;
    std::size_t record, offset;
    std::int64_t first;  // element of the first record, from the beginning of the data
  };
  const std::vector<Case> cases{{"(4, 5)", 20, "[:, 0]", {4}, 5, 0, 0},
                                {"(4, 5)", 20, "[:, 3]", {4}, 5, 3, 0},
                                {"(4, 5)", 20, "[..., -1]", {4}, 5, 4, 0},
                                {"(4, 5)", 20, "[1:3, 3]", {2}, 5, 0, 8},
                                {"(4, 5)", 20, "[1:3, 3:4]", {2, 1}, 5, 0, 8},
                                {"(4, 5)", 20, "[::2, 1]", {2}, 10, 1, 0},
                                {"(4, 6)", 24, "[:, ::3]", {4, 2}, 3, 0, 0},
                                {"(4, 6)", 24, "[2, 1::2]", {3}, 2, 0, 13},
                                {"(2, 3, 4)", 24, "[:, :, 1]", {2, 3}, 4, 1, 0},
                                {"(2, 3, 4)", 24, "[..., 1]", {2, 3}, 4, 1, 0},
                                {"(2, 3, 4)", 24, "[:, 2, 1]", {2}, 12, 9, 0},
                                {"(10,)", 10, "[::2]", {5}, 2, 0, 0},
                                {"(9,)", 9, "[::2]", {5}, 2, 1, -1},
                                {"(10,)", 10, "[3:9:4]", {2}, 4, 1, 2}};
  for (const auto& [shape, all, slice, expected, record, offset, first] : cases) {
    SCOPED_TRACE(shape + slice);
    const Source source = sliced(shape, all, slice);
    EXPECT_EQ(Lengths(source.shape().begin(), source.shape().end()), expected);
    const auto& field = SourceAccess::field(source);
    ASSERT_TRUE(field.has_value());
    EXPECT_EQ(field->struct_bytes, 2 * record);
    EXPECT_EQ(field->offset, 2 * offset);
    EXPECT_EQ(storage_of(source).front().offset,
              static_cast<std::uint64_t>(static_cast<std::int64_t>(data_offset_) + 2 * first));
  }
  expect_slice("(10,)", 10, "[7::99]", 7, {1});
  expect_slice("(4, 5)", 20, "[1:1, ::2]", 0, {0, 3});
}

TEST_F(SliceTest, SelectsRows) {
  expect_slice("(4, 5)", 20, "[1:3]", 5, {2, 5});
  expect_slice("(4, 5)", 20, "[1:3, :]", 5, {2, 5});
  expect_slice("(4, 5)", 20, "[1:3, ...]", 5, {2, 5});
  expect_slice("(4, 5)", 20, "[1:3, 0:9]", 5, {2, 5});
  expect_slice("(4, 5)", 20, "[2]", 10, {5});
  expect_slice("(4, 5)", 20, "[2, 1:4]", 11, {3});
  expect_slice("(4, 5)", 20, "[2:3, 1:4]", 11, {1, 3});
  expect_slice("(4, 5)", 20, "[2, -1]", 14, {});
  expect_slice("(3, 4, 5)", 60, "[1, 2:4]", 30, {2, 5});
  expect_slice("(3, 4, 5)", 60, "[2, 3, 1:]", 56, {4});
  expect_slice("(3, 0, 5)", 0, "[1:]", 0, {2, 0, 5});
  expect_slice("(4, 5)", 20, "[1:3, 2:2]", 0, {2, 0});
  EXPECT_EQ(sliced("(4, 5)", 20, "[1:3]").columns(), 5u);
}

TEST_F(SliceTest, SelectsInRawFiles) {
  const auto path = directory_.write("a.i32", std::string(40, 'x')).string();
  const Source source = open(path + "[2:4]");
  EXPECT_EQ(storage_of(source).front(), (Extent{0, 8, 8}));
  EXPECT_TRUE(source.name().ends_with("a.i32::[2:4]"));
  EXPECT_EQ(open(path + "[2:4]", {.offset = 8}).elements(), 2u);
  EXPECT_EQ(storage_of(open(path + "[-2:]", {.offset = 8})).front(), (Extent{0, 32, 8}));
  EXPECT_EQ(storage_of(open(path + "[2:8]", {.skip = 1, .count = 2})).front(), (Extent{0, 12, 8}));
  expect_error(ErrorKind::bad_input, "41 bytes are not a whole number",
               [&] { open(directory_.write("b.i32", std::string(41, 'x')).string() + "[2:4]"); });
}

TEST_F(SliceTest, SelectsInEachOfSeveralFiles) {
  const auto path = directory_.write("a.i32", std::string(40, 'x')).string();
  const Source source = open({path + "[2:4]", path, path + "[-1:]"});
  EXPECT_EQ(source.elements(), 13u);
  EXPECT_EQ(storage_of(source)[2], (Extent{2, 36, 4}));
}

TEST_F(SliceTest, AFileOrAnArrayWithTheWholeNameWins) {
  directory_.write("a.i32", std::string(40, 'x'));
  const auto path = directory_.write("a.i32[2:4]", std::string(12, 'x'));
  EXPECT_EQ(open(path, {.type = parse_dtype("i4")}).elements(), 3u);
  const std::string json =
      R"({"w[1:2]":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[3],)"
      R"("data_offsets":[2,5]}})";
  std::string file(8, '\0');
  file.front() = static_cast<char>(json.size());
  const auto model = directory_.write("m.safetensors", file + json + "12345").string();
  EXPECT_EQ(open(model + "::w[1:2]").elements(), 2u);
  EXPECT_EQ(open(model + "::w[1:2][1:]").elements(), 1u);
  EXPECT_EQ(storage_of(open(model + "::w[0:2]")).front(), (Extent{0, 8 + json.size() + 2, 2}));
  EXPECT_TRUE(open(model + "::w[0:2]").name().ends_with("::w[0:2]"));
}

TEST_F(SliceTest, RefusesGaps) {
  for (const std::string slice : {"[1:3, 1:4]", "[:, :4]", "[::2, ::2]", "[:, ::3]"}) {
    expect_error(ErrorKind::usage, "has gaps", [&] { sliced("(4, 5)", 20, slice); });
  }
  for (const std::string step : {"-1", "0"}) {
    expect_error(ErrorKind::usage, step + " is no step",
                 [&] { sliced("(10,)", 10, "[::" + step + "]"); });
  }
  const auto raw = directory_.write("a.i16", std::string(18, 'x')).string();
  expect_error(ErrorKind::usage, "[::2] is not read", [&] { open(raw + "[::2]"); });
  EXPECT_EQ(open(raw + "[1::2]").elements(), 4u);
  expect_error(ErrorKind::bad_input, "lie otherwise", [&] {
    open({raw + "[1::2]", raw + "[1::3]"});
  });
  const std::string columns = test::npy(test::header_of("'<i2'", "True", "(4, 5)"), 40);
  const auto path = directory_.write("f.npy", columns).string() + "[1:3]";
  expect_error(ErrorKind::usage, "Fortran order", [&] { open(path, {.by_columns = true}); });
}

TEST_F(SliceTest, RefusesWhatIsNotThere) {
  expect_error(ErrorKind::bad_input, "no index 10 in a dimension of 10",
               [&] { sliced("(10,)", 10, "[10]"); });
  expect_error(ErrorKind::bad_input, "no index -11", [&] { sliced("(10,)", 10, "[-11]"); });
  expect_error(ErrorKind::bad_input, "no index 5", [&] { sliced("(4, 5)", 20, "[:, 5]"); });
  expect_error(ErrorKind::bad_input, "has 1 dimensions, not the 2 of [1:2, :]",
               [&] { sliced("(10,)", 10, "[1:2, :]"); });
}

TEST_F(SliceTest, RefusesOtherTexts) {
  for (const std::string slice :
       {"[]", "[a]", "[1;2]", "[1:2]]", "[,1]", "[..., ...]", "[1.5]", "[1 2]"}) {
    SCOPED_TRACE(slice);
    expect_error(ErrorKind::usage, "is no slice", [&] { sliced("(10,)", 10, slice); });
  }
}

}  // namespace
}  // namespace ooc::detail
