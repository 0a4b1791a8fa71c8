#include "dataset/generator.hpp"

#include <gtest/gtest.h>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace ooc_run {
namespace {

constexpr Pattern all_patterns[] = {Pattern::uniform,  Pattern::normal, Pattern::sequence,
                                    Pattern::constant, Pattern::zipf,   Pattern::position};
constexpr ooc::ElementType all_types[] = {
    ooc::ElementType::u1, ooc::ElementType::u2, ooc::ElementType::u4, ooc::ElementType::u8,
    ooc::ElementType::i1, ooc::ElementType::i2, ooc::ElementType::i4, ooc::ElementType::i8,
    ooc::ElementType::f2, ooc::ElementType::f4, ooc::ElementType::f8, ooc::ElementType::bf16};

std::vector<std::byte> make(const Generator& generator, std::size_t count) {
  std::vector<std::byte> data(count * ooc::size_of(generator.type.element));
  generator.fill(0, data);
  return data;
}

template <class T>
T element(const std::vector<std::byte>& data, std::size_t index, bool swapped = false) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), data.data() + index * sizeof(T), sizeof(T));
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

/// Returns the exact sum of the elements times 2^fraction_bits().
ooc::int128 sum_of(const Generator& generator, const std::vector<std::byte>& data) {
  const auto fraction = static_cast<int>(generator.fraction_bits());
  return ooc::visit(generator.type.element, [&]<class T>(std::type_identity<T>) {
    ooc::int128 sum = 0;
    for (std::size_t i = 0; i < data.size() / sizeof(T); ++i) {
      const T value = element<T>(data, i, generator.type.swapped);
      if constexpr (std::is_integral_v<T>)
        sum += value;
      else
        sum += static_cast<ooc::int128>(std::ldexp(ooc::to_double(value), fraction));
    }
    return sum;
  });
}

TEST(Generator, ForEveryTypeAndPatternSumsAreExact) {
  constexpr std::size_t count = 1003;
  for (const ooc::ElementType type : all_types) {
    for (const Pattern pattern : all_patterns) {
      for (const bool swapped : {false, true}) {
        const Generator generator{{type, swapped}, pattern, 5, -3 + 4 * (int(type) < 4)};
        std::vector<std::byte> data(count * ooc::size_of(type));
        const ooc::int128 sum = generator.fill(0, data);
        if (!generator.has_sum()) continue;
        EXPECT_EQ(ooc::to_string(sum), ooc::to_string(sum_of(generator, data)))
            << ooc::name_of(type) << " pattern " << static_cast<int>(pattern) << swapped;
      }
    }
  }
}

TEST(Generator, PiecesMakeTheWhole) {
  constexpr std::size_t count = 1003;
  for (const ooc::ElementType type : all_types) {
    for (const Pattern pattern : all_patterns) {
      const Generator generator{{type}, pattern, 9};
      const std::vector<std::byte> whole = make(generator, count);
      std::vector<std::byte> pieces(whole.size());
      ooc::int128 sum = 0;
      for (const auto& [first, last] : {std::pair{504, 1003}, {0, 8}, {8, 504}}) {
        const std::size_t bytes = ooc::size_of(type);
        const std::span piece = std::span(pieces).subspan(first * bytes, (last - first) * bytes);
        sum += generator.fill(static_cast<std::uint64_t>(first), piece);
      }
      EXPECT_EQ(pieces, whole) << ooc::name_of(type) << " pattern " << static_cast<int>(pattern);
      std::vector<std::byte> again(whole.size());
      EXPECT_TRUE(generator.fill(0, again) == sum);
    }
  }
}

TEST(Generator, TheBytesAreTheSameForEver) {
  // The values of the first version: old files must stay reproducible.
  const Generator generator{{ooc::ElementType::u8}, Pattern::uniform, 0};
  const std::vector<std::byte> data = make(generator, 3);
  EXPECT_EQ(element<std::uint64_t>(data, 0), 0xa706dd2f4d197e6full);
  EXPECT_EQ(element<std::uint64_t>(data, 1), 0xb382a305f4414f5eull);
  EXPECT_EQ(element<std::uint64_t>(data, 2), 0x631a9154fbabf717ull);
}

TEST(Generator, SeedsMakeOtherData) {
  const Generator one{{ooc::ElementType::f4}, Pattern::uniform, 1};
  const Generator two{{ooc::ElementType::f4}, Pattern::uniform, 2};
  EXPECT_NE(make(one, 100), make(two, 100));
  EXPECT_EQ(make(one, 100), make(one, 100));
}

TEST(Generator, UniformFloatsAreInTheUnitInterval) {
  const auto data = make({{ooc::ElementType::f4}, Pattern::uniform, 3}, 100'000);
  double sum = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const float value = element<float>(data, i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(Generator, NormalHasDeviationOne) {
  for (const ooc::ElementType type : {ooc::ElementType::f2, ooc::ElementType::f8}) {
    const auto data = make({{type}, Pattern::normal, 3}, 100'000);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 100'000; ++i) {
      const double value = type == ooc::ElementType::f8
                               ? element<double>(data, i)
                               : ooc::to_double(element<ooc::Float16>(data, i));
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 100'000, 0, 0.02);
    EXPECT_NEAR(squares / 100'000, 1, 0.02);
  }
}

TEST(Generator, NormalIntegersLieAroundTheMiddle) {
  const auto data = make({{ooc::ElementType::u2}, Pattern::normal, 3}, 100'000);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const double value = element<std::uint16_t>(data, i) - 32768.0;
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 100'000, 0, 60);
  EXPECT_NEAR(std::sqrt(squares / 100'000), 4096, 60);
}

TEST(Generator, SequenceCountsAndBeginsAnew) {
  const auto bytes = make({{ooc::ElementType::u1}, Pattern::sequence}, 600);
  const auto small = make({{ooc::ElementType::i1}, Pattern::sequence}, 600);
  const auto halves = make({{ooc::ElementType::f2}, Pattern::sequence}, 2050);
  for (std::size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(element<std::uint8_t>(bytes, i), i % 256);
    EXPECT_EQ(element<std::int8_t>(small, i), static_cast<int>(i % 128));
  }
  EXPECT_EQ(ooc::to_double(element<ooc::Float16>(halves, 2047)), 2047);
  EXPECT_EQ(ooc::to_double(element<ooc::Float16>(halves, 2049)), 1);
}

TEST(Generator, ZipfHalvesWithEveryOctave) {
  const auto data = make({{ooc::ElementType::u4}, Pattern::zipf, 3}, 100'000);
  std::size_t ones = 0, twos_and_threes = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const std::uint32_t value = element<std::uint32_t>(data, i);
    ASSERT_GE(value, 1u);
    ones += value == 1;
    twos_and_threes += value == 2 || value == 3;
  }
  EXPECT_NEAR(static_cast<double>(ones), 50'000, 1000);
  EXPECT_NEAR(static_cast<double>(twos_and_threes), 25'000, 1000);
}

TEST(Generator, PositionsAreTheirOwnIndex) {
  const Generator generator{{ooc::ElementType::f4}, Pattern::position};
  std::vector<std::byte> data(80);
  generator.fill(16, data);  // begins at byte 64
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(element<std::uint64_t>(data, i), 8 + i);
  EXPECT_FALSE(generator.has_sum());
}

TEST(Generator, ConstantsMustBeExact) {
  const auto accepted = [](ooc::ElementType type, std::int64_t value) {
    try {
      Generator{{type}, Pattern::constant, 0, value}.check();
      return true;
    } catch (const ooc::Error& error) {
      EXPECT_EQ(error.kind(), ooc::ErrorKind::usage);
      return false;
    }
  };
  EXPECT_TRUE(accepted(ooc::ElementType::u1, 255));
  EXPECT_FALSE(accepted(ooc::ElementType::u1, 256));
  EXPECT_FALSE(accepted(ooc::ElementType::u8, -1));
  EXPECT_TRUE(accepted(ooc::ElementType::i8, INT64_MIN));
  EXPECT_TRUE(accepted(ooc::ElementType::f4, -(1 << 24)));
  EXPECT_FALSE(accepted(ooc::ElementType::f4, (1 << 24) + 1));
  EXPECT_FALSE(accepted(ooc::ElementType::bf16, 257));
}

}  // namespace
}  // namespace ooc_run
