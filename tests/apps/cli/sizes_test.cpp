#include "cli/sizes.hpp"

#include <gtest/gtest.h>
#include <ooc/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ooc_run {
namespace {

std::string refusal(auto parse, const char* text) {
  try {
    parse(text);
  } catch (const ooc::Error& error) {
    EXPECT_EQ(error.kind(), ooc::ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Sizes, BytesHaveBinaryAndDecimalUnits) {
  const std::pair<const char*, std::uint64_t> sizes[] = {
      {"0", 0},
      {"4096", 4096},
      {"64K", 65536},
      {"64KiB", 65536},
      {"64KB", 64000},
      {"3M", 3145728},
      {"3MiB", 3145728},
      {"3MB", 3000000},
      {"2g", 2147483648},
      {"2GiB", 2147483648},
      {"2gb", 2000000000},
      {"1T", 1099511627776},
      {"1TiB", 1099511627776},
      {"1TB", 1000000000000},
      {"18446744073709551615", UINT64_MAX},
  };
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(parse_bytes(text), bytes) << text;
}

TEST(Sizes, BytesAreRefusedWithTheReason) {
  EXPECT_EQ(refusal(parse_bytes, ""), "is not a whole number");
  EXPECT_EQ(refusal(parse_bytes, "K"), "is not a whole number");
  EXPECT_EQ(refusal(parse_bytes, "-1"), "must not be negative");
  EXPECT_EQ(refusal(parse_bytes, "1.5G"), "is not a whole number");
  EXPECT_EQ(refusal(parse_bytes, "1 G"), "is not a whole number");
  EXPECT_EQ(refusal(parse_bytes, "16777216T"), "is too large");
  EXPECT_EQ(refusal(parse_bytes, "18446744073709551616"), "is too large");
}

TEST(Sizes, CountsHaveDecimalUnits) {
  const std::pair<const char*, std::uint64_t> counts[] = {
      {"1000", 1000},
      {"1_000_000", 1'000'000},
      {"1e6", 1'000'000},
      {"25E3", 25'000},
      {"1_0e3", 10'000},
      {"64K", 64'000},
      {"2M", 2'000'000},
      {"3g", 3'000'000'000},
      {"1T", 1'000'000'000'000},
      {"0e99", 0},
      {"1e19", 10'000'000'000'000'000'000u},
      {"18446744073709551615", UINT64_MAX},
  };
  for (const auto& [text, count] : counts) EXPECT_EQ(parse_count(text), count) << text;
}

TEST(Sizes, CountsAreRefusedWithTheReason) {
  for (const char* text : {"2MB", "2MiB", "1e", "1ee"}) {
    EXPECT_EQ(refusal(parse_count, text), std::string("has no unit named '") + (text + 1) + "'");
  }
  for (const char* text : {"", "_", "_1", "1_", "1__0", "1e_6", "1e-6", "1e6K", "1.5e6", "1 000"}) {
    EXPECT_EQ(refusal(parse_count, text), "is not a whole number") << text;
  }
  for (const char* text : {"1e20", "1e99999", "2e19", "18446744073709552K"}) {
    EXPECT_EQ(refusal(parse_count, text), "is too large") << text;
  }
  EXPECT_EQ(refusal(parse_count, "1e99999999999999999999"), "is too large");
  EXPECT_EQ(refusal(parse_count, "-1"), "must not be negative");
  EXPECT_EQ(refusal(parse_bytes, "1e6"), "is not a whole number");
  EXPECT_EQ(refusal(parse_bytes, "1_000"), "is not a whole number");
}

TEST(Sizes, ShapesHaveALengthForEachAxis) {
  using Shape = std::vector<std::uint64_t>;
  EXPECT_EQ(parse_shape("3x4x5"), (Shape{3, 4, 5}));
  EXPECT_EQ(parse_shape("32Kx2m"), (Shape{32000, 2000000}));
  EXPECT_EQ(parse_shape("100"), Shape{100});
  EXPECT_EQ(parse_shape("1e3x1_000"), (Shape{1000, 1000}));
  EXPECT_EQ(parse_shape("0x7"), (Shape{0, 7}));
  for (const char* text : {"", "x", "3x", "x3", "3xx4"}) {
    EXPECT_EQ(refusal(parse_shape, text), "is not a whole number") << text;
  }
  EXPECT_EQ(refusal(parse_shape, "3x-4"), "must not be negative");
  EXPECT_EQ(refusal(parse_shape, "3,4"), "is not a whole number");
}

TEST(Sizes, IntegersMayBeNegative) {
  EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(refusal(parse_integer, "9223372036854775808"), "is too large");
  EXPECT_EQ(refusal(parse_integer, "7x"), "is not an integer");
}

TEST(Sizes, RealsAreNotNan) {
  EXPECT_EQ(parse_real("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(parse_real("+2"), 2);
  EXPECT_EQ(parse_real("inf"), HUGE_VAL);
  EXPECT_EQ(refusal(parse_real, "nan"), "must not be NaN");
  EXPECT_EQ(refusal(parse_real, "1,5"), "'1,5' is not a number");
  EXPECT_EQ(refusal(parse_real, "1e999"), "'1e999' is out of range");
}

TEST(Sizes, BytesForPeople) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "1.00 KB (1000 bytes)");
  EXPECT_EQ(format_bytes(4294967296), "4.29 GB (4.00 GiB)");
  EXPECT_EQ(format_bytes(999'999), "1.00 MB (977 KiB)");
  EXPECT_EQ(format_binary_bytes(8 << 20), "8 MiB");
  EXPECT_EQ(format_binary_bytes(640 << 10), "640 KiB");
  EXPECT_EQ(format_binary_bytes(3ull << 40), "3 TiB");
  EXPECT_EQ(format_binary_bytes(1ull << 62), "4096 PiB");
  EXPECT_EQ(format_binary_bytes(0), "0 KiB");
  EXPECT_EQ(format_binary_bytes(1500), "1.50 KB");
  EXPECT_EQ(format_binary_bytes(1), "1 byte");
  EXPECT_EQ(format_rate(6.8e9), "6.80 GB/s");
  EXPECT_EQ(format_both_rates(12.5e9), "12.5 GB/s (11.6 GiB/s)");
}

TEST(Sizes, OperationsForPeople) {
  EXPECT_EQ(format_flops(12), "12 FLOP");
  EXPECT_EQ(format_flops(2.0 * 1024 * 1024 * 1024), "2.15 GFLOP");
}

TEST(Sizes, SecondsForPeople) {
  EXPECT_EQ(format_seconds(0.634), "634 ms");
  EXPECT_EQ(format_seconds(0.00042), "0.42 ms");
  EXPECT_EQ(format_seconds(0.9996), "1.00 s");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(185), "3:05 min");
  EXPECT_EQ(format_seconds(3599), "59:59 min");
  EXPECT_EQ(format_seconds(3600), "1:00:00 h");
  EXPECT_EQ(format_seconds(7800), "2:10:00 h");
}

TEST(Sizes, OneThingAndMany) {
  EXPECT_EQ(format_count(0, "thread"), "0 threads");
  EXPECT_EQ(format_count(1, "thread"), "1 thread");
  EXPECT_EQ(format_count(2048, "thread"), "2,048 threads");
}

}  // namespace
}  // namespace ooc_run
