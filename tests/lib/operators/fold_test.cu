// Tests folds that a user writes with Thrust. Compiled by nvcc they run on both devices, compiled
// by g++ on the CPU.

#include <ooc/detail/base/units.hpp>
#include <ooc/execute.hpp>
#include <ooc/fold.hpp>

#include <gtest/gtest.h>
#include <thrust/count.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "support/allocations.hpp"
#include "support/data_file.hpp"
#include "support/devices.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

struct Above {
  float threshold;
  constexpr bool operator()(float value) const { return value > threshold; }
};

struct CountAboveThreshold {
  using Input = float;
  using Partial = std::uint64_t;
  static constexpr std::size_t partition_records = 65536;
  float threshold;

  void consume(Stream& stream, DeviceSpan<const float> in, Partial& count) const {
    execute(stream, [&](auto policy) {
      count += static_cast<std::uint64_t>(
          thrust::count_if(policy, in.begin(), in.end(), Above{threshold}));
    });
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

struct Seen {
  std::uint64_t elements = 0;
  std::vector<std::uint64_t> firsts{};  // index of each chunk's first element

  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Collects the index of every chunk's first element, and returns them in order.
template <class T>
struct Positions {
  using Input = T;
  using Partial = Seen;
  static constexpr Merge merge_order = Merge::by_place;

  void consume(Stream&, DeviceChunk<const T> in, Seen& part) const {
    part.elements += in.size;
    part.firsts.push_back(in.first);
  }
  void merge(Seen& total, Seen& part) const {
    total.elements += std::exchange(part.elements, 0);
    total.firsts.insert(total.firsts.end(), part.firsts.begin(), part.firsts.end());
    part.firsts.clear();
  }
  Seen result(Seen total) const {
    std::ranges::sort(total.firsts);
    return total;
  }
};

class FoldTest : public testing::TestWithParam<DeviceKind> {
 protected:
  test::TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Devices, FoldTest, test::all_devices, test::device_name);

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return uniform(random); });
  return values;
}

TEST_P(FoldTest, AgreesWithAPlainLoop) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto values = random_floats(3'000'017);
  const auto expected = std::ranges::count_if(values, Above{0.25f});
  const auto path = dir_.path() / "values.f32";
  test::write_file(path, values);
  for (const std::size_t chunk : {256 * KiB, 1 * MiB, 64 * MiB}) {
    for (const std::size_t streams : {1u, 2u, 5u}) {
      Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = chunk, .streams = streams});
      const auto result = fold(coordinator, CountAboveThreshold{0.25f}, open_bytes(path));
      EXPECT_EQ(result.value, static_cast<std::uint64_t>(expected));
      EXPECT_EQ(result.stats.outcome.bytes, values.size() * sizeof(float));
      EXPECT_FALSE(result.stats.outcome.partial);
    }
  }
}

TEST_P(FoldTest, AllocatesNothingOnceAChunkHasPassed) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto pass = [](Coordinator& coordinator, const Source& source) {
    return fold(coordinator, CountAboveThreshold{0.5f}, source).stats;
  };
  test::expect_no_allocation_per_chunk(GetParam(), pass);
}

TEST_P(FoldTest, TellsOperatorsWhereTheirChunkBegins) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto path = dir_.path() / "bytes.u8";
  const std::size_t count = 10 * 65536 + 5;
  test::write_file(path, std::vector<std::uint8_t>(count));
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 65536, .streams = 3});
  const auto result = fold(coordinator, Positions<std::uint8_t>{}, open_bytes(path));
  EXPECT_EQ(result.value.elements, count);
  std::vector<std::uint64_t> expected(11);
  std::iota(expected.begin(), expected.end(), 0u);
  for (auto& first : expected) first *= 65536;
  EXPECT_EQ(result.value.firsts, expected);
}

TEST_P(FoldTest, OfSeveralOperatorsEachFindsWhatItFindsAlone) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto path = dir_.path() / "values.f32";
  test::write_file(path, random_floats(20 * 65536 + 7));
  const Source source = open_bytes(path);
  const std::tuple operators{CountAboveThreshold{0.25f}, Positions<float>{},
                             CountAboveThreshold{0.75f}};
  for (const std::size_t streams : {1u, 3u, 40u}) {
    Coordinator coordinator(make_device(GetParam()),
                            {.chunk_bytes = 256 * KiB, .streams = streams});
    const auto [found, stats] = fold(coordinator, operators, source);
    const auto& [many, seen, few] = found;
    EXPECT_EQ(many, fold(coordinator, CountAboveThreshold{0.25f}, source).value);
    EXPECT_EQ(few, fold(coordinator, CountAboveThreshold{0.75f}, source).value);
    EXPECT_EQ(seen, fold(coordinator, Positions<float>{}, source).value);
    EXPECT_EQ(seen.firsts.size(), stats.layout.chunks);
    EXPECT_EQ(stats.outcome.bytes, source.bytes());
    EXPECT_LT(few, many);
  }
}

TEST_P(FoldTest, OfSeveralOperatorsOneFailsAll) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto path = dir_.path() / "values.f32";
  test::write_file(path, random_floats(20 * 65536));
  Coordinator coordinator(make_device(GetParam()), {.chunk_bytes = 256 * KiB, .streams = 2});
  const test::Count<float> failing{
      test::at(5 * 65536, [] { throw std::runtime_error("failed as it should"); })};
  const std::tuple operators{Positions<float>{}, failing};
  EXPECT_THROW(fold(coordinator, operators, open_bytes(path)), std::runtime_error);
}

TEST_P(FoldTest, NeedsElementsOfItsType) {
  OOC_SKIP_WITHOUT(GetParam());
  const auto path = dir_.path() / "values.f64";
  test::write_file(path, std::vector<double>(3));
  const auto odd = dir_.path() / "odd.bin";
  test::write_file(odd, std::vector<std::uint8_t>(7));
  Coordinator coordinator(make_device(GetParam()));
  EXPECT_THROW(fold(coordinator, CountAboveThreshold{0}, open(path)), Error);
  EXPECT_THROW(fold(coordinator, CountAboveThreshold{0}, open_bytes(odd)), Error);
}

}  // namespace
}  // namespace ooc::detail
