#include <ooc/detail/content/type_guess.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace ooc::detail {
namespace {

constexpr std::size_t count = 50'000;

using Bytes = std::vector<std::byte>;

/// Returns the bytes of `how_many` values of T made by `next`, in the given byte order.
template <class T, class Next>
Bytes values(Next next, bool swapped = false, std::size_t how_many = count) {
  Bytes bytes;
  for (std::size_t i = 0; i < how_many; ++i) {
    const T value = static_cast<T>(next());
    std::array<std::byte, sizeof(T)> one;
    std::memcpy(one.data(), &value, sizeof(T));
    if (swapped) std::ranges::reverse(one);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

/// Returns the code of the guessed type, or "nothing".
std::string guess(const Bytes& bytes) {
  const TypeGuess guess = guess_type(bytes, bytes.size());
  EXPECT_FALSE(guess.reason.empty());
  return guess.type ? code_of(*guess.type) : "nothing";
}

class TypeGuessTest : public testing::Test {
 protected:
  auto normal(double mean, double deviation) {
    return [this, distribution = std::normal_distribution<double>(mean, deviation)]() mutable {
      return distribution(engine_);
    };
  }
  auto whole(std::int64_t least, std::int64_t most) {
    return [this, distribution = std::uniform_int_distribution<std::int64_t>(
                      least, most)]() mutable { return distribution(engine_); };
  }

  std::mt19937_64 engine_{7};
};

TEST_F(TypeGuessTest, FindsFloats) {
  EXPECT_EQ(guess(values<float>(normal(0, 0.05))), "<f4");
  EXPECT_EQ(guess(values<float>(normal(280, 10), true)), ">f4");
  EXPECT_EQ(guess(values<double>(normal(0, 1))), "<f8");
  EXPECT_EQ(guess(values<double>(normal(1e6, 1), true)), ">f8");
  EXPECT_EQ(guess(values<float>(whole(0, 255))), "<f4");
  EXPECT_EQ(guess(values<double>(whole(0, 255))), "<f8");
}

TEST_F(TypeGuessTest, FindsFloatsAmongZerosAndNans) {
  auto value = normal(0, 1);
  auto number = whole(0, 99);
  EXPECT_EQ(guess(values<float>([&] { return number() < 95 ? 0 : value(); })), "<f4");
  EXPECT_EQ(guess(values<float>([&] { return number() < 30 ? NAN : value(); })), "<f4");
}

TEST_F(TypeGuessTest, KnowsTextByItsLetters) {
  Bytes lines;  // of eight bytes each, like f8
  for (int number = 1000; number < 9999; ++number) {
    for (const char letter : std::to_string(number) + ".25\n") lines.push_back(std::byte(letter));
  }
  const TypeGuess guess = guess_type(lines, lines.size());
  EXPECT_FALSE(guess.type);
  EXPECT_EQ(guess.evidence, Evidence::text);
}

TEST_F(TypeGuessTest, SaysWhereItGoesByAPatternAlone) {
  EXPECT_EQ(guess_type(values<float>(normal(0, 1)), 4 * count).evidence, Evidence::values);
  constexpr std::array<unsigned, 8> most{2, 5, 256, 10, 2, 100, 255, 3};  // limit of each byte
  auto byte = [&, n = 0u]() mutable { return engine_() % most[n++ % most.size()]; };
  EXPECT_EQ(guess_type(values<std::uint8_t>(byte), count).evidence, Evidence::pattern);
}

TEST_F(TypeGuessTest, FindsPairsOfFloats) {
  auto x = normal(0, 1), y = normal(100, 1);
  bool first = false;
  EXPECT_EQ(guess(values<float>([&] { return (first = !first) ? x() : y(); })), "<f4");
}

TEST_F(TypeGuessTest, TellsTheHalfPrecisionsApart) {
  const auto bfloat = [](auto next) {
    return
        [next]() mutable { return std::bit_cast<std::uint32_t>(static_cast<float>(next())) >> 16; };
  };
  // Takes the exponent and the first bits of the fraction. Rounding does not matter here.
  const auto half = [](auto next) {
    return [next]() mutable {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(next()) * 0x1p-112f);
      return (bits >> 16 & 0x8000u) | (bits >> 13 & 0x7fffu);
    };
  };
  EXPECT_EQ(guess(values<std::uint16_t>(bfloat(normal(0, 0.05)))), "<bf16");
  EXPECT_EQ(guess(values<std::uint16_t>(bfloat(normal(0, 1)), true)), ">bf16");
  EXPECT_EQ(guess(values<std::uint16_t>(half(normal(0, 0.05)))), "<f2");
  EXPECT_EQ(guess(values<std::uint16_t>(half(normal(0, 1)), true)), ">f2");
}

TEST_F(TypeGuessTest, FindsIntegers) {
  EXPECT_EQ(guess(values<std::uint32_t>(whole(0, 50'000))), "<u4");
  EXPECT_EQ(guess(values<std::int32_t>(whole(-5000, 5000))), "<i4");
  EXPECT_EQ(guess(values<std::int32_t>(whole(-5000, 5000), true)), ">i4");
  EXPECT_EQ(guess(values<std::uint16_t>(whole(0, 4095))), "<u2");
  EXPECT_EQ(guess(values<std::uint16_t>(whole(0, 4095), true)), ">u2");
  EXPECT_EQ(guess(values<std::int16_t>(normal(0, 2000))), "<i2");
  EXPECT_EQ(guess(values<std::int8_t>(normal(0, 20))), "|i1");
  EXPECT_EQ(guess(values<std::uint8_t>(normal(128, 20))), "|u1");
}

TEST_F(TypeGuessTest, FindsOffsets) {
  std::int64_t offset = 0;
  auto step = whole(0, 1000);
  const Bytes bytes = values<std::uint64_t>([&] { return offset += step(); });
  const TypeGuess guess = guess_type(bytes, bytes.size());
  EXPECT_EQ(guess.type, DType{ElementType::u8});
  EXPECT_NE(guess.reason.find("offsets"), std::string::npos);
}

TEST_F(TypeGuessTest, TakesNoTypeThatDoesNotDivideTheSize) {
  Bytes bytes = values<float>(normal(0, 1));
  EXPECT_EQ(guess_type(bytes, bytes.size()).type, DType{ElementType::f4});
  EXPECT_EQ(guess_type(bytes, bytes.size() + 1).type, DType{ElementType::u1});
}

TEST_F(TypeGuessTest, SaysWhatIsNoNumbers) {
  EXPECT_EQ(guess(Bytes{}), "nothing");
  EXPECT_EQ(guess(Bytes(511, std::byte{7})), "nothing");
  EXPECT_EQ(guess(Bytes(count, std::byte{})), "nothing");
  EXPECT_EQ(guess(Bytes(count, std::byte{7})), "nothing");
  EXPECT_EQ(guess(values<char>(whole('a', 'z'))), "nothing");
  const Bytes random = values<std::uint8_t>(whole(0, 255));
  EXPECT_NE(guess_type(random, random.size()).reason.find("compressed"), std::string::npos);
}

bool is_sure(const Bytes& bytes) {
  return guess_type(bytes, bytes.size()).is_sure;
}

TEST_F(TypeGuessTest, IsSureOfNumbers) {
  EXPECT_TRUE(is_sure(values<float>(normal(0, 1))));
  EXPECT_TRUE(is_sure(values<float>(normal(280, 10), true)));
  EXPECT_TRUE(is_sure(values<double>(normal(0, 1))));
  EXPECT_TRUE(is_sure(values<float>(whole(0, 255))));
  EXPECT_TRUE(is_sure(values<std::uint32_t>(whole(0, 50'000))));
  EXPECT_TRUE(is_sure(values<std::int32_t>(normal(0, 1e5))));
  EXPECT_TRUE(is_sure(values<std::uint16_t>(whole(0, 4095))));
  EXPECT_TRUE(is_sure(values<std::int64_t>(whole(0, 9))));
  double degrees = -90;
  EXPECT_TRUE(is_sure(values<double>([&] { return degrees += 180.0 / count; })));
  std::int64_t offset = 0;
  EXPECT_TRUE(is_sure(
      values<std::uint64_t>([&, step = whole(0, 1000)]() mutable { return offset += step(); })));
}

/// Pictures with two or four channels, sound and other smooth bytes repeat a pattern, too.
TEST_F(TypeGuessTest, IsNotSureOfBytes) {
  const auto channels = [this](std::vector<double> means, double deviation) {
    return values<std::uint8_t>([&, i = std::size_t{0}]() mutable {
      const std::size_t channel = i % means.size();
      const double wave = 30 * std::sin(static_cast<double>(i++ / means.size()) / 19);
      const double value = means[channel] == 255 || means[channel] == 0
                               ? means[channel]
                               : means[channel] + wave + normal(0, deviation)();
      return std::clamp(value, 0.0, 255.0);
    });
  };
  for (const auto& means : std::vector<std::vector<double>>{{128},
                                                            {120, 80, 60},
                                                            {120, 80, 60, 255},
                                                            {120, 80, 60, 0},
                                                            {255, 120, 80, 60},
                                                            {0, 120, 80, 60},
                                                            {120, 255},
                                                            {110, 128},
                                                            {90, 40, 120, 63},
                                                            {90, 62}}) {
    EXPECT_FALSE(is_sure(channels(means, 3))) << means.size() << " channels of " << means.back();
  }
  EXPECT_FALSE(is_sure(values<std::uint8_t>(whole(0, 255)))) << "compressed";
  EXPECT_FALSE(is_sure(values<std::uint8_t>(normal(128, 20))));
  EXPECT_FALSE(is_sure(values<std::uint8_t>(whole(0, 1))));
  EXPECT_FALSE(is_sure(values<std::uint8_t>([n = 0]() mutable { return n++; }))) << "a ramp";
  EXPECT_FALSE(is_sure(values<char>(whole('a', 'z')))) << "letters";
  EXPECT_FALSE(is_sure(values<double>([] { return NAN; }))) << "one value";
  auto number = whole(0, 999);
  EXPECT_FALSE(is_sure(values<std::uint8_t>([&] { return number() < 990 ? 0 : number(); })));
  constexpr std::array<unsigned, 8> most{2, 5, 256, 10, 2, 100, 255, 3};  // limit of each byte
  EXPECT_FALSE(is_sure(values<std::uint8_t>([&, n = 0u]() mutable {
    return engine_() % most[n++ % most.size()];
  }))) << "records";
}

TEST_F(TypeGuessTest, TellsTheRange) {
  EXPECT_EQ(
      range_of(values<float>([i = 0]() mutable { return i++ % 181 - 90; }), {ElementType::f4}),
      "from -90 to 90");
}

}  // namespace
}  // namespace ooc::detail
