#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/counted_new.hpp"
#include "support/devices.hpp"
#include "support/special_values.hpp"
#include "support/values_file.hpp"

// Tests reduce() with ReduceOptions::exact.

namespace ooc::detail {
namespace {

using test::infinity;
using test::nan;

class ReduceExactTest : public testing::TestWithParam<DeviceKind>, protected test::ValuesFile {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT(GetParam()); }

  Statistics reduce_it(const Source& source, NanPolicy policy = NanPolicy::propagate,
                       std::size_t chunk_bytes = 256 * KiB, std::size_t streams = 3) {
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = chunk_bytes, .streams = streams});
    return reduce(coordinator, source, {.nan = policy, .exact = true}).value;
  }
};

INSTANTIATE_TEST_SUITE_P(Device, ReduceExactTest, test::all_devices, test::device_name);

/// Returns values of all sizes with their opposites, and `rest`, so that the sum is that of `rest`.
std::vector<double> cancelling(std::size_t pairs, const std::vector<double>& rest) {
  std::mt19937_64 random(3);
  std::vector<double> values = rest;
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto fraction = static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back(std::ldexp(fraction, static_cast<int>(random() % 2000) - 980));
    values.push_back(-values.back());
  }
  std::ranges::shuffle(values, random);
  return values;
}

TEST_P(ReduceExactTest, RoundsOnceHoweverItIsReadAndOrdered) {
  std::mt19937_64 random(5);
  std::vector<double> values = cancelling(300'000, {0x1p53, 1, test::smallest, 0.125, -0.125});
  const auto mean = static_cast<double>((0x1p53L + 1) / static_cast<long double>(values.size()));
  for (int shuffle = 0; shuffle < 3; ++shuffle) {
    const Source source = source_of(values);
    for (const std::size_t chunk_bytes : {512 * KiB, 3 * MiB, 16 * MiB}) {
      for (const std::size_t streams : {1, 2, 5}) {
        SCOPED_TRACE(std::to_string(chunk_bytes) + " bytes, streams " + std::to_string(streams));
        const Statistics found = reduce_it(source, NanPolicy::propagate, chunk_bytes, streams);
        EXPECT_EQ(found.sum, Scalar{0x1p53 + 2});
        EXPECT_EQ(*found.mean, mean);
      }
    }
    std::ranges::shuffle(values, random);
  }
}

TEST_P(ReduceExactTest, EveryFloatingTypeInBothByteOrders) {
  std::vector<float> floats(100'000, 0x1p-149f);
  floats[77] = 0x1.fffffep127f;
  floats[99'999] = -0x1.fffffep127f;
  EXPECT_EQ(reduce_it(source_of(floats)).sum, Scalar{99'998 * 0x1p-149});
  for (float& value : floats) {
    value = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  }
  EXPECT_EQ(reduce_it(source_of(floats, true)).sum, Scalar{99'998 * 0x1p-149});

  std::vector<Float16> halves(100'000, Float16{1});  // 2^-24
  halves[70'000] = {0xfbff};                         // -65504
  EXPECT_EQ(reduce_it(source_of(halves)).sum, Scalar{99'999 * 0x1p-24 - 65504});

  std::vector<BFloat16> brains(100'000, BFloat16{0x8001});  // -2^-133
  brains[3] = {0x7f7f};
  brains[4] = {0xff7f};
  EXPECT_EQ(reduce_it(source_of(brains)).sum, Scalar{-99'998 * 0x1p-133});
}

TEST_P(ReduceExactTest, TheMeanIsRoundedOnceToo) {
  const Statistics found = reduce_it(source_of(std::vector<double>(200'000, test::largest)));
  EXPECT_EQ(found.sum, Scalar{infinity});
  EXPECT_EQ(*found.mean, test::largest);
  EXPECT_EQ(*reduce_it(source_of(std::vector<double>{0x1p53, 1, 2})).mean, 0x1p53 / 3 + 1);

  const std::vector<std::uint64_t> integers{std::uint64_t{1} << 53, 1, 2};
  const Statistics of_integers = reduce_it(source_of(integers));
  EXPECT_EQ(of_integers.sum, Scalar{(int128{1} << 53) + 3});
  EXPECT_EQ(*of_integers.mean, 0x1p53 / 3 + 1);
}

TEST_P(ReduceExactTest, InfinityAndNanAsWithoutIt) {
  std::vector<double> values(150'000, 1e308);
  Statistics found;
  for (const double infinite : {infinity, -infinity}) {
    values[80'000] = infinite;
    found = reduce_it(source_of(values));
    EXPECT_EQ(found.sum, Scalar{infinite});
    EXPECT_EQ(*found.mean, infinite);
  }

  values[3] = infinity;
  found = reduce_it(source_of(values));
  EXPECT_TRUE(std::isnan(std::get<double>(found.sum)));
  EXPECT_TRUE(std::isnan(*found.mean));

  values = cancelling(50'000, {3.25, nan, -nan});
  found = reduce_it(source_of(values));
  EXPECT_TRUE(std::isnan(std::get<double>(found.sum)));
  EXPECT_TRUE(std::isnan(*found.mean));
  found = reduce_it(source_of(values), NanPolicy::omit);
  EXPECT_EQ(found.nan, 2u);
  EXPECT_EQ(found.sum, Scalar{3.25});
  EXPECT_EQ(*found.mean, 3.25 / 100'001);

  found = reduce_it(source_of(std::vector<double>(10, nan)), NanPolicy::omit);
  EXPECT_EQ(found.sum, Scalar{0.0});
  EXPECT_TRUE(std::isnan(*found.mean));
}

TEST_P(ReduceExactTest, ChangesNothingElse) {
  std::mt19937_64 random(9);
  std::vector<float> values(300'000);
  for (float& value : values) value = static_cast<float>(random() >> 40) - 1e6f;
  const Source source = source_of(values);
  const Statistics exact = reduce_it(source);
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 2});
  const Statistics plain = reduce(coordinator, source).value;
  EXPECT_EQ(exact.count, plain.count);
  EXPECT_EQ(exact.min, plain.min);
  EXPECT_EQ(exact.max, plain.max);
  EXPECT_EQ(exact.argmin, plain.argmin);
  EXPECT_EQ(exact.argmax, plain.argmax);
  EXPECT_EQ(*exact.variance, *plain.variance);
  EXPECT_EQ(*exact.stddev, *plain.stddev);
}

TEST_P(ReduceExactTest, OfNothingOnlyTheSumIsKnown) {
  const Statistics found = reduce_it(source_of(std::vector<double>{}));
  EXPECT_EQ(found.sum, Scalar{0.0});
  EXPECT_FALSE(found.mean);
}

TEST_P(ReduceExactTest, AllocatesNothingForMoreChunks) {
  const auto count_for = [&](std::size_t tiles, EngineKind engine) {
    const Source source = source_of(std::vector<float>(tiles * tile_elements, 1.0f));
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = 256 * KiB, .streams = 2, .engine = engine});
    return test::count_of_new_when_repeated([&] { reduce(coordinator, source, {.exact = true}); });
  };
  // A lane allocates at its first step, and it may never draw one.
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    EXPECT_LT(count_for(100, engine), count_for(4, engine) + 96 / 4);
  }
}

}  // namespace
}  // namespace ooc::detail
