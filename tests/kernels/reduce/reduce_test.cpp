#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/reduce.hpp>

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/reduce/reduce_fixture.hpp"
#include "support/counted_new.hpp"
#include "support/effort.hpp"
#include "support/engines.hpp"
#include "support/page_cache.hpp"

namespace ooc::detail {
namespace {

using test::ReduceTest;
using test::rough_numbers;

void expect_same_bits(const Statistics& left, const Statistics& right) {
  EXPECT_EQ(left.count, right.count);
  EXPECT_EQ(left.nan, right.nan);
  EXPECT_EQ(test::bits_of(left.sum), test::bits_of(right.sum));
  EXPECT_EQ(test::bits_of(left.min), test::bits_of(right.min));
  EXPECT_EQ(test::bits_of(left.max), test::bits_of(right.max));
  EXPECT_EQ(left.argmin, right.argmin);
  EXPECT_EQ(left.argmax, right.argmax);
  EXPECT_EQ(test::bits_of(*left.mean), test::bits_of(*right.mean));
  EXPECT_EQ(test::bits_of(*left.variance), test::bits_of(*right.variance));
  EXPECT_EQ(test::bits_of(*left.stddev), test::bits_of(*right.stddev));
}

INSTANTIATE_TEST_SUITE_P(Device, ReduceTest, test::all_devices, test::device_name);

TEST_P(ReduceTest, SameBitsHoweverItIsRead) {
  const std::size_t tile = tile_elements;
  // More than the largest chunk.
  const std::size_t whole_tiles = tile_elements * test::effort(272, 32);
  const std::vector<float> values = rough_numbers(whole_tiles + 777);
  const Source source = source_of(values, false, 12);

  std::optional<Statistics> first;
  for (const std::size_t chunk : {tile, 16 * tile, 48 * tile, 257 * tile}) {
    for (const std::size_t streams : {1, 2, 3, 8}) {
      for (const EngineKind engine : test::engines_here()) {
        for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
          SCOPED_TRACE(std::to_string(chunk) + " elements a chunk, streams " +
                       std::to_string(streams) + ", engine " +
                       std::to_string(static_cast<int>(engine)) + ", direct " +
                       std::to_string(static_cast<int>(direct)));
          Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = chunk * sizeof(float),
                                                            .streams = streams,
                                                            .engine = engine,
                                                            .direct = direct});
          const auto [found, stats] = reduce(coordinator, source);
          EXPECT_EQ(stats.layout.chunks, divide_up(values.size(), chunk));
          if (!first) first = found;
          expect_same_bits(found, *first);
        }
      }
    }
  }

  long double sum = 0;
  for (const float value : values) sum += value;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(first->count, values.size());
  EXPECT_NEAR(std::get<double>(first->sum), static_cast<double>(sum),
              std::abs(static_cast<double>(sum)) * 1e-12);
  EXPECT_EQ(first->argmin, static_cast<std::uint64_t>(min - values.begin()));
  EXPECT_EQ(first->argmax,
            static_cast<std::uint64_t>(std::ranges::find(values, *max) - values.begin()));
}

/// Bits that an independent program computed by the definition. They must not change with the
/// device, the compiler or the version.
TEST_P(ReduceTest, TheBitsAreThese) {
  const Statistics found = reduce_it(source_of(rough_numbers(200'001)));
  EXPECT_EQ(found.sum, Scalar{-0x1.64775cb37d2c4p+42});
  EXPECT_EQ(*found.mean, -0x1.d339a153954bcp+24);
  EXPECT_EQ(*found.variance, 0x1.6a01f753edb00p+69);
}

// A half-cached file makes chunks arrive out of order. Every chunk has the same values, so that
// only the first index of an extreme, and of a NaN, is correct.
TEST_P(ReduceTest, FirstPlacesOfAHalfCachedFile) {
  constexpr std::size_t chunks = 60;
  std::vector<float> part = rough_numbers(tile_elements);
  part[4321] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values;
  for (std::size_t i = 0; i < chunks; ++i) values.insert(values.end(), part.begin(), part.end());
  const Source source = source_of(values);
  const std::filesystem::path path = files_of(source)[0].path();
  for (const std::uint64_t evicted : {chunks / 2, chunks * 4 / 5}) {
    for (const NanPolicy policy : {NanPolicy::propagate, NanPolicy::omit}) {
      std::optional<Statistics> in_order;
      for (const std::size_t streams : {1, 2, 3, 5}) {
        std::optional<test::HeldInPageCache> held(path);
        const Options options{.chunk_bytes = tile_elements * sizeof(float), .streams = streams};
        Coordinator coordinator(make_device(GetParam()), options);
        if (!in_order) in_order = reduce(coordinator, source, {.nan = policy}).value;
        const std::size_t kept_bytes = (chunks - evicted) * tile_elements * sizeof(float);
        held.emplace(path, kept_bytes);
        test::evict(path, kept_bytes);
        const std::string why_not = test::why_not_half_cached(source);
        if (!why_not.empty()) GTEST_SKIP() << why_not;
        const auto [found, stats] = reduce(coordinator, source, {.nan = policy});
        EXPECT_FALSE(stats.layout.in_order);
        expect_same_bits(found, *in_order);
      }
    }
  }
}

TEST_P(ReduceTest, IntegersAreExact) {
  constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  const std::size_t count = 2 * tile_elements + 3;

  Statistics found = reduce_it(source_of(std::vector<std::uint64_t>(count, highest)));
  EXPECT_EQ(found.sum, Scalar{int128{highest} * count});
  EXPECT_EQ(found.max, Scalar{int128{highest}});
  EXPECT_EQ(found.argmax, 0u);
  EXPECT_EQ(*found.mean, static_cast<double>(highest));
  EXPECT_EQ(*found.variance, 0);

  found = reduce_it(source_of(std::vector<std::int64_t>(count, lowest)));
  EXPECT_EQ(found.sum, Scalar{int128{lowest} * count});
  EXPECT_EQ(found.min, Scalar{int128{lowest}});
  EXPECT_EQ(*found.mean, static_cast<double>(lowest));
}

TEST_P(ReduceTest, BytesWithoutAType) {
  std::vector<std::uint8_t> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 250);
  source_of(values);
  const Statistics found = reduce_it(open_bytes(path()));
  EXPECT_EQ(found.count, 100'000u);
  EXPECT_EQ(found.sum, Scalar{int128{400 * (249 * 250 / 2)}});
  EXPECT_EQ(found.max, Scalar{int128{249}});
  EXPECT_EQ(found.argmin, 0u);
  EXPECT_EQ(found.argmax, 249u);
  EXPECT_DOUBLE_EQ(*found.mean, 124.5);
  EXPECT_DOUBLE_EQ(*found.variance, (250.0 * 250 - 1) / 12);
  EXPECT_DOUBLE_EQ(*found.stddev, std::sqrt((250.0 * 250 - 1) / 12));
}

TEST_P(ReduceTest, ByteOrderAndAlignmentMakeNoDifference) {
  const std::vector<float> values = rough_numbers(150'000);
  std::vector<float> swapped = values;
  for (float& value : swapped) {
    value = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  }
  const Statistics expected = reduce_it(source_of(values));
  expect_same_bits(reduce_it(source_of(swapped, true)), expected);
  expect_same_bits(reduce_it(source_of(values, false, 3)), expected);
  expect_same_bits(reduce_it(source_of(swapped, true, 5)), expected);
}

TEST_P(ReduceTest, OfNothingOnlyTheSumIsKnown) {
  EXPECT_EQ(reduce_it(source_of(std::vector<std::uint8_t>{})).sum, Scalar{int128{0}});
  const Statistics found = reduce_it(source_of(std::vector<double>{}));
  EXPECT_EQ(found.count, 0u);
  EXPECT_EQ(found.nan, 0u);
  EXPECT_EQ(test::bits_of(found.sum), test::bits_of(0.0));
  EXPECT_EQ(found.min, Scalar{});
  EXPECT_EQ(found.max, Scalar{});
  EXPECT_FALSE(found.argmin || found.argmax || found.mean || found.variance || found.stddev);
}

TEST_P(ReduceTest, AllocatesNothingForMoreChunks) {
  const auto count_for = [&](std::size_t tiles, EngineKind engine) {
    const Source source = source_of(std::vector<Float16>(tiles * tile_elements, Float16{0x3c00}));
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = 128 * KiB, .streams = 2, .engine = engine});
    return test::count_of_new_when_repeated([&] { reduce(coordinator, source); });
  };
  // A lane allocates at its first step, and it may never draw one.
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::threads}) {
    EXPECT_LT(count_for(100, engine), count_for(4, engine) + 96 / 4);
  }
}

/// NIST's NumAcc2, 3 and 4 generalised to any length: a number, then alternately one below and one
/// above it.
struct Alternating {
  double middle, low, high;

  std::vector<double> values(std::size_t count) const {
    std::vector<double> values(count, low);
    values[0] = middle;
    for (std::size_t i = 2; i < count; i += 2) values[i] = high;
    return values;
  }

  /// The differences are exact, so nothing cancels here.
  double variance(std::size_t count) const {
    const double below = low - middle;
    const double above = high - middle;
    const double share = static_cast<double>(count / 2) / static_cast<double>(count);
    const double offset = share * (below + above);
    return share * (below * below + above * above) - offset * offset;
  }
};

TEST_P(ReduceTest, AccurateWhereDigitsCancel) {
  Statistics found = reduce_it(source_of(std::vector<double>{10000001, 10000003, 10000002}));
  EXPECT_EQ(*found.mean, 10000002);
  EXPECT_DOUBLE_EQ(*found.variance, 2.0 / 3);

  for (const Alternating& data :
       {Alternating{1.2, 1.1, 1.3}, Alternating{1000000.2, 1000000.1, 1000000.3},
        Alternating{10000000.2, 10000000.1, 10000000.3}}) {
    for (const std::size_t count : {std::size_t{1001}, 5 * tile_elements + 101}) {
      found = reduce_it(source_of(data.values(count)));
      EXPECT_NEAR(*found.mean / data.middle, 1, 1e-14);
      EXPECT_NEAR(*found.variance / data.variance(count), 1, 1e-11) << data.middle;
      EXPECT_NEAR(*found.stddev, 0.1, 1e-4);
    }
  }
}

}  // namespace
}  // namespace ooc::detail
