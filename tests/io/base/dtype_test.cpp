#include <gtest/gtest.h>

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <string>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"

namespace ooc::detail {
namespace {

TEST(DType, CodesAndNamesComeBack) {
  for (int i = 0; i < 12; ++i) {
    const auto element = static_cast<ElementType>(i);
    EXPECT_EQ(parse_dtype(name_of(element)), (DType{element, false}));
    for (const bool swapped : {false, size_of(element) > 1}) {
      const DType type{element, swapped};
      EXPECT_EQ(parse_dtype(code_of(type)), type) << code_of(type);
    }
  }
}

TEST(DType, UnderstandsShortNamesInBits) {
  const std::vector<std::pair<const char*, ElementType>> cases{
      {"f16", ElementType::f2}, {"f32", ElementType::f4}, {"f64", ElementType::f8},
      {"i16", ElementType::i2}, {"i32", ElementType::i4}, {"i64", ElementType::i8},
      {"u16", ElementType::u2}, {"u32", ElementType::u4}, {"u64", ElementType::u8}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(parse_dtype(text), DType{expected}) << text;
    EXPECT_EQ(parse_dtype(std::string(">") + text), (DType{expected, true})) << text;
  }
  EXPECT_EQ(parse_dtype("u8"), DType{ElementType::u8});  // a NumPy code, which counts bytes
  EXPECT_EQ(parse_dtype("i8"), DType{ElementType::i8});
}

TEST(DType, UnderstandsByteOrder) {
  EXPECT_EQ(parse_dtype("f4"), (DType{ElementType::f4, false}));
  EXPECT_EQ(parse_dtype("=f4"), (DType{ElementType::f4, false}));
  EXPECT_EQ(parse_dtype("<f4"), (DType{ElementType::f4, false}));
  EXPECT_EQ(parse_dtype(">i2"), (DType{ElementType::i2, true}));
  EXPECT_EQ(parse_dtype(">bfloat16"), (DType{ElementType::bf16, true}));
  EXPECT_EQ(parse_dtype("|u1"), (DType{ElementType::u1, false}));
  EXPECT_EQ(parse_dtype(">u1"), (DType{ElementType::u1, false}));
  EXPECT_EQ(code_of({ElementType::u1, false}), "|u1");
  EXPECT_EQ(code_of({ElementType::f4, false}), "<f4");
  EXPECT_EQ(code_of({ElementType::bf16, true}), ">bf16");
}

TEST(DType, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "<", "f3", "F4", "floaty", "f4 ", "<>f4", "u128", "complex64"}) {
    test::expect_error(ErrorKind::usage, "unknown dtype", [&] { parse_dtype(text); });
  }
  test::expect_error(ErrorKind::usage, "no byte order", [] { parse_dtype("|f4"); });
  test::expect_error(ErrorKind::usage, "unknown dtype",
                     [] { parse_dtype(std::string(1'000'000, 'x')); });
}

TEST(DType, AcceptsTheNamesThatNumPyDoes) {
  const std::vector<std::pair<const char*, const char*>> cases{{"double", "<f8"},
                                                               {"float", "<f8"},
                                                               {"single", "<f4"},
                                                               {"half", "<f2"},
                                                               {"d", "<f8"},
                                                               {"f", "<f4"},
                                                               {"e", "<f2"},
                                                               {"b", "|i1"},
                                                               {"B", "|u1"},
                                                               {"h", "<i2"},
                                                               {"H", "<u2"},
                                                               {"i", "<i4"},
                                                               {"I", "<u4"},
                                                               {"l", "<i8"},
                                                               {"L", "<u8"},
                                                               {"q", "<i8"},
                                                               {"Q", "<u8"},
                                                               {">d", ">f8"},
                                                               {"int", "<i8"},
                                                               {"short", "<i2"},
                                                               {"ubyte", "|u1"},
                                                               {"uintc", "<u4"},
                                                               {"{x:d,y:>h}", "{x:<f8,y:>i2}"}};
  for (const auto& [text, code] : cases) EXPECT_EQ(code_of(parse_dtype(text)), code) << text;
}

TEST(DType, SuggestsTheNearest) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"float3", "'float32'"}, {">flaot64", "'float64'"}, {"unit8", "'uint8'"},
      {"bf61", "'bf16'"},      {"unit", "'uint8'"},       {"fp16", "'f2'"},
      {"F4", "'f4'"},          {"INT32", "'int32'"},      {"4f", "'f4'"}};
  for (const auto& [text, expected] : cases) {
    try {
      parse_dtype(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.details().hint.find(expected), std::string::npos) << error.details().hint;
    }
  }
}

TEST(DType, SuggestsNothingForWhatIsFarFromAll) {
  for (const char* text : {"complex64", "string", "", "x", "fp8", "i24", "c8", "c16", "u3", "f1",
                           "int24", "float128", "bf8", ">i24"}) {
    try {
      parse_dtype(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.details().hint, "") << text;
    }
  }
}

TEST(StructType, HasItsFieldsInTheirOrder) {
  const DType type = parse_dtype("{x:f4, y : >i2 ,v:float32[3],:V4,last:u1}");
  ASSERT_EQ(type.fields.size(), 4u);
  EXPECT_TRUE(type.is_struct());
  EXPECT_EQ(type.fields[0], (Field{"x", ElementType::f4, false, 0, 1}));
  EXPECT_EQ(type.fields[1], (Field{"y", ElementType::i2, true, 4, 1}));
  EXPECT_EQ(type.fields[2], (Field{"v", ElementType::f4, false, 6, 3}));
  EXPECT_EQ(type.fields[3], (Field{"last", ElementType::u1, false, 22, 1}));
  EXPECT_EQ(type.struct_bytes, 23u);
  EXPECT_TRUE(parse_dtype("{is:|b1}").fields[0].is_bool);
  EXPECT_EQ(size_of(type), 23u);
  EXPECT_EQ(size_of(DType{ElementType::f8}), 8u);
  EXPECT_FALSE(DType{ElementType::f8}.is_struct());
}

TEST(StructType, ComesBackFromItsCode) {
  for (const char* code : {"{x:<f4}", "{x:<f4,y:>i2,v:<f4[3]}", "{:V1,x:|u1,:V2,y:<bf16,:V3}"}) {
    EXPECT_EQ(code_of(parse_dtype(code)), code);
  }
  EXPECT_EQ(code_of(parse_dtype("{x:u1,:V2,:V3,y:u1,:V0}")), "{x:|u1,:V5,y:|u1}");
}

// NumPy takes any name.
TEST(StructType, HasNamesOfAnyCharacters) {
  const DType type = parse_dtype("{'a:b':f4, 'it''s' : u1,'{[,]}':>i2[2],' x ':f8,x's:u1,a b:u1}");
  std::vector<std::string> names;
  for (const Field& field : type.fields) names.push_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a:b", "it's", "{[,]}", " x ", "x's", "a b"}));
}

TEST(StructType, ComesBackFromItsCodeWhateverItsNames) {
  for (const char* name : {":", ",", "{", "}", "[", "]", "'", "''", "':'", "a'b", "\"", " ", " a",
                           "a ", "a b", "\\", "\n", "x:f4,y", "\u00e4"}) {
    DType type;
    type.struct_bytes = 5;
    type.fields = {{.name = name}, {.name = "y", .element = ElementType::f4, .offset = 1}};
    EXPECT_EQ(parse_dtype(code_of(type)), type) << code_of(type);
  }
  EXPECT_EQ(code_of(parse_dtype("{'x':f4,'a:b':f4,a'b:f4,''':':u1}")),
            "{x:<f4,'a:b':<f4,a'b:<f4,''':':|u1}");
}

TEST(StructType, IsRefusedWithItsFieldAndTheCharacter) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"{x:f4,y:f3}", "character 7: field 'y': unknown dtype 'f3'"},
      {"{x:f4,y}", "character 7: field 'y': a ':' and a type are missing"},
      {"{x:f4,x:f4}", "character 7: field 'x': there are two fields of that name"},
      {"{x:f4,y:|f4}", "character 7: field 'y': dtype '|f4' has no byte order"},
      {"{x:f4,y:f4[0]}", "field 'y': has no elements"},
      {"{x:f4,y:f4[]}", "field 'y': '' is no number"},
      {"{x:f4,y:f4[-1]}", "field 'y': '-1' is no number"},
      {"{x:f4,y:f4[2}", "field 'y': '2}' is no number"},
      {"{x:f4,y:f4[18446744073709551616]}", "is no number"},
      {"{x:f4,y:f8[4611686018427387904]}", "field 'y': a struct has at most 2^30 bytes"},
      {"{x:f4,y:f4[268435456]}", "field 'y': a struct has at most 2^30 bytes"},
      {"{x:f4,:V1073741821}", "a struct has at most 2^30 bytes"},
      {"{x:f4,:f4}", "character 7: a field has a name"},
      {"{x:f4,'':f4}", "character 7: a field has a name"},
      {"{'':V4}", "character 2: a field has a name"},
      {"{x:f4,'y:f4}", "character 7: the quote that ends a name is missing"},
      {"{x:f4,'y''", "character 7: the quote that ends a name is missing"},
      {"{'y'z:f4}", "field 'y': a ':' and a type are missing"},
      {"{x:f4", "',' or '}' is missing"},
      {"{x:f4}}", "nothing is to follow"},
      {"{:V4}", "a struct has at least one field"},
      {"{}", "a ':' and a type are missing"},
      {"{x:{y:f4}}", "field 'x': unknown dtype ''"}};
  for (const auto& [text, problem] : cases) {
    test::expect_error(ErrorKind::usage, problem, [&] { parse_dtype(text); });
  }
  EXPECT_NO_THROW(parse_dtype("{x:f4,:V1073741820}"));
}

TEST(StructType, SuggestsTheNearestTypeOfAField) {
  try {
    parse_dtype("{x:float3}");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.details().hint, "did you mean 'float32'?");
  }
}

}  // namespace
}  // namespace ooc::detail
