#include <ooc/detail/content/byte_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace ooc::detail {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t new_year = 1'704'067'200;  // 2024, in seconds since 1970
constexpr std::int64_t second = 1'000'000'000;    // in nanoseconds

/// The first 16 KiB of a file of numbers, which `next` makes from their index.
class ByteOrderTest : public testing::Test {
 protected:
  template <class T, class Next>
  Bytes file_of(Next next, bool swapped = false) {
    Bytes bytes;
    for (std::int64_t i = 0; bytes.size() < 16384; ++i) {
      const T value = static_cast<T>(next(i));
      std::array<std::byte, sizeof(T)> one;
      std::memcpy(one.data(), &value, sizeof(T));
      if (swapped) std::ranges::reverse(one);
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    return bytes;
  }

  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  double normal(double mean, double deviation) {
    return std::normal_distribution<double>(mean, deviation)(random_);
  }
  double tone(std::int64_t i, double loudness) {
    return loudness * (0.7 * std::sin(static_cast<double>(i) * 0.05) + normal(0, 0.1));
  }
  /// A channel of a picture: smooth, with a little noise.
  std::int64_t pixel(std::int64_t i, double scale) {
    return std::clamp<std::int64_t>(
        std::llround(scale * (120 + 60 * std::sin(static_cast<double>(i) / 23) + normal(0, 3))), 0,
        255);
  }

  template <class T, class Next>
  void expect_no_doubt(const char* name, Next next, const char* type) {
    ++files_;
    EXPECT_FALSE(looks_swapped(file_of<T>(next), parse_dtype(type))) << name;
  }
  template <class T, class Next>
  void expect_doubt(const char* name, Next next, const char* type) {
    ++files_;
    EXPECT_TRUE(looks_swapped(file_of<T>(next, true), parse_dtype(type))) << name;
    EXPECT_FALSE(looks_swapped(file_of<T>(next), parse_dtype(type))) << name;
  }

  std::mt19937_64 random_{7};
  int files_ = 0;
};

TEST_F(ByteOrderTest, OrdinaryFloatsAreNotDoubted) {
  expect_no_doubt<float>(
      "normal", [&](auto) { return normal(0, 1); }, "f4");
  expect_no_doubt<double>(
      "normal", [&](auto) { return normal(0, 1); }, "f8");
  expect_no_doubt<float>(
      "degrees", [&](auto) { return std::round(normal(2800, 100)) / 10; }, "f4");
  expect_no_doubt<float>(
      "fill 1e20", [&](auto) { return whole(0, 9) < 4 ? 1e20 : normal(280, 10); }, "f4");
  expect_no_doubt<float>(
      "fill of NetCDF", [&](auto) { return whole(0, 9) < 6 ? 0x1.ep122 : normal(280, 10); }, "f4");
  expect_no_doubt<float>(
      "nothing but fill", [](auto) { return 1e20; }, "f4");
  expect_no_doubt<double>(
      "NaN", [&](auto) { return whole(0, 1) ? NAN : normal(0, 1); }, "f8");
  expect_no_doubt<float>(
      "tiny", [&](auto) { return normal(0, 1e-20); }, "f4");
  expect_no_doubt<double>(
      "huge", [&](auto) { return normal(0, 1e200); }, "f8");
  expect_no_doubt<float>(
      "whole", [&](auto) { return whole(0, 255); }, "f4");
  expect_no_doubt<double>(
      "whole", [&](auto) { return whole(0, 1'000'000); }, "f8");
  expect_no_doubt<float>(
      "a mask", [&](auto) { return whole(0, 1); }, "f4");
  expect_no_doubt<float>(
      "powers of two", [&](auto) { return std::exp2(whole(-9, 9)); }, "f4");
  EXPECT_EQ(files_, 13);
}

TEST_F(ByteOrderTest, OrdinaryIntegersAreNotDoubted) {
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{60}, std::int64_t{86400}}) {
    expect_no_doubt<std::int64_t>(
        "datetime64[ns]", [&](auto i) { return (new_year + i * step) * second; }, "i8");
  }
  expect_no_doubt<std::int64_t>(
      "seconds of a year", [&](auto) { return (new_year + whole(0, 31'536'000)) * second; }, "i8");
  expect_no_doubt<std::int64_t>(
      "Snowflake", [&](auto i) { return ((150'000'000'000 + 37 * i) << 22) | whole(0, 3) << 12; },
      "i8");
  expect_no_doubt<std::int64_t>(
      "Snowflake of many machines",
      [&](auto i) { return ((150'000'000'000 + 37 * i) << 22) | whole(0, 1023) << 12; }, "i8");
  expect_no_doubt<std::int32_t>(
      "24-bit audio", [&](auto i) { return std::int64_t(tone(i, 4e6)) * 256; }, "i4");
  expect_no_doubt<std::int32_t>(
      "loud 24-bit audio", [&](auto) { return whole(-8'388'608, 8'388'607) * 256; }, "i4");
  expect_no_doubt<std::int32_t>(
      "24-bit audio, right-aligned", [&](auto i) { return tone(i, 4e6); }, "i4");
  expect_no_doubt<std::int16_t>(
      "16-bit audio", [&](auto i) { return tone(i, 3e4); }, "i2");
  expect_no_doubt<std::uint32_t>(
      "RGB0", [&](auto i) { return pixel(i, 1) << 24 | pixel(i, 0.7) << 16 | pixel(i, 0.4) << 8; },
      "u4");
  expect_no_doubt<std::uint32_t>(
      "0RGB", [&](auto i) { return pixel(i, 1) << 16 | pixel(i, 0.7) << 8 | pixel(i, 0.4); }, "u4");
  expect_no_doubt<std::uint16_t>(
      "12 of 16 bits", [&](auto) { return whole(0, 4095) << 4; }, "u2");
  expect_no_doubt<std::uint16_t>(
      "10 of 16 bits", [&](auto) { return whole(0, 1023) << 6; }, "u2");
  expect_no_doubt<std::uint16_t>(
      "8 of 16 bits", [&](auto i) { return pixel(i, 1) << 8; }, "u2");
  expect_no_doubt<std::int32_t>(
      "thousands", [&](auto) { return whole(0, 2'000'000) * 1000; }, "i4");
  expect_no_doubt<std::int64_t>(
      "ten millions", [&](auto) { return whole(0, second) * 10'000'000; }, "i8");
  expect_no_doubt<std::int32_t>(
      "16.16", [&](auto) { return normal(0, 20) * 65536; }, "i4");
  expect_no_doubt<std::uint64_t>(
      "hashes", [&](auto) { return random_(); }, "u8");
  expect_no_doubt<std::int32_t>(
      "labels", [&](auto) { return whole(0, 9); }, "i4");
  EXPECT_EQ(files_, 20);
}

TEST_F(ByteOrderTest, TheOtherOneIsDoubted) {
  expect_doubt<float>(
      "normal", [&](auto) { return normal(0, 1); }, "f4");
  expect_doubt<double>(
      "normal", [&](auto) { return normal(0, 1); }, "f8");
  expect_doubt<float>(
      "whole", [&](auto) { return whole(0, 255); }, "f4");
  expect_doubt<double>(
      "whole", [&](auto) { return whole(0, 1'000'000); }, "f8");
  expect_doubt<float>(
      "fill", [&](auto) { return whole(0, 9) < 4 ? 1e20 : normal(280, 10); }, "f4");
  expect_doubt<std::int32_t>(
      "small", [&](auto) { return whole(-99, 99); }, "i4");
  expect_doubt<std::int16_t>(
      "audio", [&](auto i) { return tone(i, 8e3); }, "i2");
  expect_doubt<std::uint16_t>(
      "12 bits", [&](auto) { return whole(0, 4095); }, "u2");
  expect_doubt<std::uint32_t>(
      "offsets", [&](auto) { return whole(0, 50'000); }, "u4");
  expect_doubt<std::uint64_t>(
      "indices", [](auto i) { return i; }, "u8");
  expect_doubt<std::int64_t>(
      "times", [](auto i) { return (new_year + i) * second; }, "i8");
  expect_doubt<std::int32_t>(
      "labels", [&](auto) { return whole(0, 9); }, "i4");
  EXPECT_EQ(files_, 12);
}

TEST_F(ByteOrderTest, OddValuesAreCounted) {
  EXPECT_EQ(odd_share(file_of<float>([&](auto) { return normal(0, 1); }), parse_dtype("f4")), 0);
  EXPECT_EQ(odd_share(file_of<float>([](auto) { return 1e30; }), parse_dtype("f4")), 1);
  EXPECT_NEAR(odd_share(file_of<float>([](auto i) { return i % 2 ? NAN : 1; }), parse_dtype("f4")),
              0.5, 1e-9);
  EXPECT_EQ(odd_share(file_of<float>([](auto) { return 0; }), parse_dtype("f4")), 0);
  EXPECT_EQ(odd_share(file_of<int>([](auto i) { return i; }), parse_dtype("i4")), 0);
}

}  // namespace
}  // namespace ooc::detail
