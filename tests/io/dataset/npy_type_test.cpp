// Tests the types that headers of .npy files declare. Those of elements are in source_test.cpp.

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::header_of;
using test::npy;

class NpyTypeTest : public testing::Test {
 protected:
  Source opened(const char* descr, const char* shape, std::size_t bytes) {
    return open(directory_.write("a.npy", npy(header_of(descr, "False", shape), bytes)));
  }

  /// Opens a file that must be refused with `problem` in the message. Returns the hint.
  std::string refused(const std::string& descr, std::string_view problem) {
    try {
      opened(descr.c_str(), "(1,)", 8);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input) << descr;
      EXPECT_NE(std::string_view(error.what()).find(problem), std::string_view::npos)
          << error.what();
      EXPECT_NE(std::string_view(error.what()).find(directory_.path().string()),
                std::string_view::npos);
      return error.details().hint;
    }
    ADD_FAILURE() << descr << " was not refused";
    return {};
  }

  test::TempDir directory_;
};

TEST_F(NpyTypeTest, FindsTheFieldsOfStructs) {
  const Source packed = opened("[('x', '<f4'), ('y', '>i2')]", "(3,)", 18);
  EXPECT_EQ(packed.type(), parse_dtype("{x:f4,y:>i2}"));
  EXPECT_EQ(packed.type()->struct_bytes, 6u);
  EXPECT_EQ(packed.shape().size(), 1u);
  EXPECT_EQ(packed.columns(), 1u);
  const Source padded =
      opened("[('a', '|b1'), ('', '|V3'), ('v', '>f8', (2, 3)), ('\"', '|u1', (1,)), ('', '|V7')]",
             "(2, 1)", 120);
  EXPECT_EQ(code_of(*padded.type()), "{a:|u1,:V3,v:>f8[6],\":|u1,:V7}");
  EXPECT_EQ(padded.type()->fields[1].offset, 4u);
  EXPECT_EQ(padded.type()->struct_bytes, 60u);
}

TEST_F(NpyTypeTest, DatesAndStringsInStructsAreNumbers) {
  const Source trades =
      opened("[('t', '<M8[ns]'), ('d', '>m8'), ('s', '|S3'), ('u', '>U2'), ('v', '|V4', (2,))]",
             "(3,)", 3 * 35);
  EXPECT_EQ(trades.type(), parse_dtype("{t:<i8,d:>i8,s:u1[3],u:>u4[2],v:u1[8]}"));
}

TEST_F(NpyTypeTest, RefusesFieldsThatAreNoNumbers) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"[('a', '<f4'), ('b', [('c', '<i4')])]", "field 'b' is a struct of its own"},
      {"[('a', '<f4'), (('a title', 'b'), '<i4')]", "field 'b' has a title"},
      {"[('a', '<f4'), ('b', '|O')]", "field 'b' holds pickled Python objects ('|O')"},
      {"[('a', '<f4'), ('b', '<c8')]", "field 'b' holds complex numbers"},
      {"[('a', '<f4'), ('b', '|S')]", "field 'b' holds strings"},
      {"[('a', '<f4'), ('b', '<V1')]", "field 'b' holds opaque bytes"},
      {"[('a', '<f4'), ('b', '|S0')]", "field 'b': has no elements"},
      {"[('a', '<f4'), ('b', '<M4[s]')]", "field 'b' holds dates"},
      {"[('a', '<f4'), ('b', '<m8[s')]", "field 'b' holds time spans"},
      {"[('a', '<f4'), ('b', '|S18446744073709551615', (2,))]", "has more elements than 64 bits"},
      {"[('a', '<f4'), ('b', '<f3')]", "field 'b' holds the type '<f3', which is not known"},
      {"[('a', '<f4'), ('a', '<f4')]", "field 'a': there are two fields of that name"},
      {"[('a', '<f4'), ('', '<f4')]", "field '': has no name"},
      {"[('a', '<f4', (2, 0))]", "field 'a': has no elements"},
      {"[('a', '<f4', (4294967296, 4294967296))]", "field 'a': has more elements than 64 bits"},
      {"[('a', '<f4', (268435456,)), ('b', '|u1')]", "field 'b': a struct has at most 2^30 bytes"},
      {"[('', '|V1073741825')]", "field '': a struct has at most 2^30 bytes"},
      {"[('', '|V4')]", "structs without fields"},
      {"[]", "structs without fields"},
      {"[('a', '<f4')", "expected '('"},
      {"[('a', '<f4') ('b', '<f4')]", "expected ']'"},
      {"[('a')]", "expected ','"},
      {"[('a', '<f4', 3)]", "expected '('"},
      {"[('a', '<f4', (3,), 1)]", "expected ')'"},
      {"['a']", "expected '('"}};
  for (const auto& [descr, problem] : cases) {
    const bool is_syntax = std::string_view(problem).starts_with("expected");
    EXPECT_EQ(refused(descr, problem).empty(), is_syntax) << descr;
  }
  std::string many = "[";
  for (int i = 0; i < 1025; ++i) many += "('a" + std::to_string(i) + "','|u1'),";
  refused(many + "]", "no more than 1024 fields");
  EXPECT_EQ(refused(cases[2].first, "field 'b'"),
            "save the other fields: import numpy.lib.recfunctions as r; "
            "numpy.save(\"fields.npy\", r.repack_fields(array[[\"a\"]]))");
}

}  // namespace
}  // namespace ooc::detail
