// Passes that leave nothing on the device, and passes that take it away.

#include <ooc/chunks.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/resident.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/operators/resident_fixture.hpp"
#include "support/operators.hpp"

namespace ooc::detail {
namespace {

using test::Doubled;
using test::partition;
using test::RoundedSum;
using ResidentLimitsTest = test::ResidentFixture;

TEST_P(ResidentLimitsTest, AShardDoesNotFillIt) {
  Coordinator machine = coordinator();
  machine.device().bind_to_thread();
  const auto stream = machine.device().make_stream();
  const Resident kept(machine, source_, {.device_bytes = all_});
  {
    Chunks chunks(machine, kept, {.rows = 5000, .shard = 1, .shards = 2});
    while (chunks.next(*stream)) {
    }
  }
  EXPECT_EQ(kept.resident_bytes(), 0u);
}

TEST_P(ResidentLimitsTest, AChecksumIsOfWhatTheFilesHold) {
  Coordinator machine = coordinator();
  const auto expected = fold(machine, RoundedSum{}, source_, {.checksum = true});
  const Resident kept(machine, source_, {.device_bytes = all_});
  for (int pass = 0; pass < 2; ++pass) {
    const auto [sum, stats] = fold(machine, RoundedSum{}, kept, {.checksum = true});
    EXPECT_EQ(stats.outcome.checksum, expected.stats.outcome.checksum);
    EXPECT_EQ(stats.outcome.resident_bytes, 0u);
  }
  EXPECT_EQ(kept.resident_bytes(), bytes_);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).stats.outcome.resident_bytes, bytes_);
}

TEST_P(ResidentLimitsTest, APassThatFailsOrStopsLeavesNothing) {
  Coordinator machine = coordinator();
  const float expected = fold(machine, RoundedSum{}, source_).value;
  const Resident kept(machine, source_, {.device_bytes = all_});
  std::atomic<int> calls{0};
  const auto fails = [&] {
    if (++calls == 20) throw std::runtime_error("failed");
  };
  EXPECT_THROW(fold(machine, RoundedSum{fails}, kept), std::runtime_error);
  EXPECT_EQ(kept.resident_bytes(), 0u);
  std::stop_source stop;
  const auto stops = [&] { stop.request_stop(); };
  const auto partial =
      fold(machine, RoundedSum{stops}, kept, {.stop = stop.get_token(), .keep_partial = true});
  EXPECT_TRUE(partial.stats.outcome.partial);
  EXPECT_EQ(kept.resident_bytes(), 0u);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected);
  EXPECT_EQ(kept.resident_bytes(), bytes_);
  // Later passes that fail leave it there.
  calls = 0;
  EXPECT_THROW(fold(machine, RoundedSum{fails}, kept), std::runtime_error);
  EXPECT_EQ(fold(machine, RoundedSum{}, kept).value, expected);
  EXPECT_EQ(kept.resident_bytes(), bytes_);
}

TEST_P(ResidentLimitsTest, ProgressCountsWhatIsThere) {
  Coordinator machine = coordinator();
  const Resident kept(machine, source_, {.device_bytes = bytes_ / 2});
  fold(machine, RoundedSum{}, kept);
  Progress last{};
  fold(machine, RoundedSum{}, kept, {.progress = [&](const Progress& now) { last = now; }});
  EXPECT_EQ(last.bytes, bytes_);
  EXPECT_EQ(last.total_bytes, bytes_);
}

TEST_P(ResidentLimitsTest, RefusesWhatCannotStay) {
  Coordinator machine = coordinator(), other = coordinator();
  const Resident kept(machine, source_, {.device_bytes = all_});
  test::expect_error(ErrorKind::usage, "on the device of another coordinator",
                     [&] { fold(other, RoundedSum{}, kept); });
  test::expect_error(ErrorKind::bad_input, "holds float32",
                     [&] { fold(machine, test::Count<double>{}, kept); });
  const Source empty = test::ValuesFile().source_of(std::vector<float>{});
  const Resident none(machine, empty, {.device_bytes = all_});
  EXPECT_EQ(fold(machine, RoundedSum{}, none).value, 0);
  EXPECT_EQ(none.resident_bytes(), 0u);
}

// The CPU reads the page cache as fast as it would read memory of its own.
TEST_P(ResidentLimitsTest, TakesNoMemoryOfTheCpuUnlessItIsGiven) {
  Coordinator machine = coordinator();
  const Resident kept(machine, source_);
  fold(machine, RoundedSum{}, kept);
  EXPECT_EQ(kept.resident_bytes(), GetParam() == test::Machine::cpu ? 0 : bytes_);
}

/// On machines whose lanes have buffers on a device.
using ResidentOnADeviceTest = test::ResidentFixture;

TEST_P(ResidentOnADeviceTest, IsWithinTheLimitOfTheDevice) {
  const std::size_t chunk = partition * sizeof(float), buffers = 2 * 2 * chunk;
  Coordinator tight = coordinator({.chunk_bytes = chunk, .streams = 2, .device_bytes = buffers});
  const float expected = fold(tight, RoundedSum{}, source_).value;
  const Resident none(tight, source_);
  const auto [sum, stats] = fold(tight, RoundedSum{}, none);
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(none.resident_bytes(), 0u);
  EXPECT_EQ(std::ranges::count(stats.layout.reasons, ReasonKind::input_not_kept, &Reason::what), 1);
}

// The first pass needs few bytes for its streams, the second one more than are left.
TEST_P(ResidentOnADeviceTest, IsGivenBackWhereAPassHasNoRoom) {
  const std::size_t chunk = partition * sizeof(float);
  test::ValuesFile file;
  const Source source = file.source_of(std::vector<float>(1'500'000, 0.25f));
  Coordinator machine = coordinator({.chunk_bytes = chunk, .streams = 2});
  map(machine, Doubled{}, source, target("doubled.f32"));
  Coordinator fresh = coordinator({.chunk_bytes = chunk, .streams = 2});
  const Resident kept(fresh, source);
  fold(fresh, RoundedSum{}, kept);
  EXPECT_EQ(kept.resident_bytes(), source.bytes());
  fresh.device().device_memory().set_limit(fresh.device().device_memory().bytes_in_use() + chunk);
  const Stats stats = map(fresh, Doubled{}, kept, target("again.f32")).stats;
  EXPECT_EQ(made("again.f32"), made("doubled.f32"));
  EXPECT_EQ(kept.resident_bytes(), 0u);
  EXPECT_EQ(stats.outcome.resident_bytes, 0u);
  ASSERT_EQ(stats.outcome.remarks.size(), 1u);
  EXPECT_NE(stats.outcome.remarks[0].find("does not stay on the device"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Machines, ResidentOnADeviceTest,
                         testing::Values(test::Machine::late, test::Machine::cuda),
                         test::machine_name);
INSTANTIATE_TEST_SUITE_P(Machines, ResidentLimitsTest, test::all_machines, test::machine_name);

TEST(ResidentOfAProducer, IsRefused) {
  Coordinator machine(make_device(DeviceKind::cpu));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Source source = produced(read_descriptor(ends[0], "a pipe"), {ElementType::f4});
  test::expect_error(ErrorKind::usage, "cannot stay on the device",
                     [&] { Resident(machine, source); });
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ooc::detail
