// Sources that are zipped and stay on the device.

#include <ooc/chunks.hpp>
#include <ooc/fold.hpp>
#include <ooc/resident.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "support/host_operators.hpp"

namespace ooc::detail {
namespace {

using test::partition;
using test::RoundedSum;
using ResidentZipTest = test::ResidentFixture;

/// Adds up values times their weights, in float.
struct WeightedSum {
  using Input = std::tuple<float, std::uint16_t>;
  using Partial = float;
  static constexpr std::size_t partition_records = partition;

  void consume(Stream& stream, DeviceChunk<const float> in,
               DeviceChunk<const std::uint16_t> weights, float& sum) const {
    EXPECT_EQ(in.first, weights.first);
    const auto values = test::on_host<const float>(stream, in);
    const auto factors = test::on_host<const std::uint16_t>(stream, weights);
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * factors[i];
  }
  void merge(float& total, const float& part) const { total += part; }
};

std::vector<std::uint16_t> weights_of(std::size_t count) {
  std::vector<std::uint16_t> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<std::uint16_t>(i % 777);
  return weights;
}

TEST_P(ResidentZipTest, TheSameRecordsOfEachStay) {
  // The second one is in the other byte order.
  std::vector<std::uint16_t> swapped = weights_of(count_);
  for (std::uint16_t& weight : swapped) weight = __builtin_bswap16(weight);
  const test::ValuesFile other;
  const Source weights = other.source_of(swapped, true, 3);
  Coordinator machine = coordinator();
  const float expected = fold(machine, WeightedSum{}, zip(source_, weights)).value;
  const std::uint64_t both = source_.bytes() + weights.bytes();
  for (const std::uint64_t wanted : {all_, both / 2, both / 50}) {
    const Resident kept(machine, zip(source_, weights), {.device_bytes = wanted});
    EXPECT_EQ(kept.sources(), 2u);
    for (int pass = 0; pass < 3; ++pass) {
      const auto [sum, stats] = fold(machine, WeightedSum{}, kept);
      EXPECT_EQ(sum, expected);
      EXPECT_EQ(stats.outcome.records, both / 6);
      EXPECT_EQ(stats.outcome.bytes, both);
      EXPECT_EQ(stats.outcome.resident_bytes, pass == 0 ? 0 : kept.resident_bytes());
    }
    EXPECT_EQ(kept.resident_bytes() == both, wanted == all_);
    EXPECT_EQ(kept.resident_bytes() % 6, 0u) << "of whole records";
    EXPECT_LE(kept.resident_bytes(), wanted);
  }
}

TEST_P(ResidentZipTest, ALoopOfTheCallersTakesBoth) {
  const test::ValuesFile other;
  const Source weights = other.source_of(weights_of(count_));
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const Resident kept(machine, zip(source_, weights), {.device_bytes = all_});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<float> values_seen(count_);
    std::vector<std::uint16_t> weights_seen(count_);
    Chunks chunks(machine, kept, {.rows = 5000, .shuffle_seed = epoch});
    while (const auto chunk = chunks.next(*stream)) {
      const auto x = chunk->bytes(0), y = chunk->bytes(1);
      stream->copy(values_seen.data() + chunk->first(), x.data, x.size);
      stream->copy(weights_seen.data() + chunk->first(), y.data, y.size);
    }
    stream->synchronize();
    EXPECT_EQ(values_seen, values());
    EXPECT_EQ(weights_seen, weights_of(count_));
    EXPECT_EQ(chunks.stats().outcome.resident_bytes, epoch == 0 ? 0 : kept.resident_bytes());
  }
}

TEST_P(ResidentZipTest, RefusesAnOperatorOfOtherInputs) {
  const test::ValuesFile other;
  const Source weights = other.source_of(weights_of(count_));
  Coordinator machine = coordinator();
  const Resident both(machine, zip(source_, weights), {.device_bytes = all_});
  test::expect_error(ErrorKind::usage, "reads 1 source, 2 stay on the device",
                     [&] { fold(machine, RoundedSum{}, both); });
  const Resident one(machine, source_, {.device_bytes = all_});
  test::expect_error(ErrorKind::usage, "reads 2 sources, 1 stay on the device",
                     [&] { fold(machine, WeightedSum{}, one); });
}

INSTANTIATE_TEST_SUITE_P(Machines, ResidentZipTest, test::all_machines, test::machine_name);

}  // namespace
}  // namespace ooc::detail
