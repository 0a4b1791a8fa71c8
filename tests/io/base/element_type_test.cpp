#include <gtest/gtest.h>

#include <ooc/dtype.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace ooc::detail {
namespace {

/// Decodes a half by the definition of the format, without bit tricks.
float decode_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::nanf("");
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

TEST(Float16, ConvertsAllValuesExactly) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto actual = static_cast<float>(Float16{half});
    const float expected = decode_half(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(expected))
          << bits;
    }
  }
}

TEST(BFloat16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(static_cast<float>(BFloat16{0x3f80}), 1.0f);
  EXPECT_EQ(static_cast<float>(BFloat16{0xc040}), -3.0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16{0x7fc0})));
  EXPECT_EQ(to_double(BFloat16{0x0001}), std::ldexp(1.0, -133));
}

TEST(ElementType, KnowsItsCppType) {
  EXPECT_EQ(element_type_of<std::uint8_t>(), ElementType::u1);
  EXPECT_EQ(element_type_of<std::uint64_t>(), ElementType::u8);
  EXPECT_EQ(element_type_of<std::int8_t>(), ElementType::i1);
  EXPECT_EQ(element_type_of<std::int32_t>(), ElementType::i4);
  EXPECT_EQ(element_type_of<double>(), ElementType::f8);
  EXPECT_EQ(element_type_of<BFloat16>(), ElementType::bf16);
  EXPECT_EQ(size_of(ElementType::i2), 2u);
  EXPECT_EQ(size_of(ElementType::bf16), 2u);
}

TEST(ElementType, IsNamedByTheEndingOfARawFile) {
  ElementType expected = ElementType::u1;
  for (const char* ending : {".u8", ".u16", ".u32", ".u64", ".i8", ".i16", ".i32", ".i64", ".f16",
                             ".f32", ".f64", ".bf16"}) {
    EXPECT_EQ(type_of_ending(ending), expected) << ending;
    expected = static_cast<ElementType>(static_cast<int>(expected) + 1);
  }
  for (const char* ending :
       {"", ".", "f32", "float32", ".F32", ".f32 ", ".f8", ".npy", ".bin", ".float"}) {
    EXPECT_EQ(type_of_ending(ending), std::nullopt) << ending;
  }
}

TEST(ElementType, IsNamedByEndingsInOtherWords) {
  const std::vector<std::pair<const char*, ElementType>> cases{
      {".float32", ElementType::f4},    {".uint8", ElementType::u1}, {".int64", ElementType::i8},
      {".bfloat16", ElementType::bf16}, {".f4", ElementType::f4},    {".f2", ElementType::f2},
      {".u1", ElementType::u1},         {".i2", ElementType::i2},    {".half", ElementType::f2},
      {".pcm", ElementType::i2}};
  for (const auto& [ending, expected] : cases)
    EXPECT_EQ(type_of_ending(ending), expected) << ending;
}

}  // namespace
}  // namespace ooc::detail
