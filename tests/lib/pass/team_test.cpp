// Passes that several devices share.

#include "pass/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "io/expect_error.hpp"
#include "lib/parts/checkpoint_fixture.hpp"
#include "lib/pass/team_fixture.hpp"
#include "support/bits.hpp"

namespace ooc::detail {
namespace {

using std::chrono_literals::operator""us;
using test::bits_of;
using test::cpu;
using test::devices;
using test::LateDevice;
using test::Meeting;
using test::NamedSum;
using test::partition;
using test::SharedSum;
using test::slowed;
using test::StartingDevice;
using test::TeamTest;

std::uint64_t bytes_of_all(const Stats& stats) {
  std::uint64_t bytes = 0;
  for (const DeviceShare& share : stats.devices) bytes += share.bytes;
  return bytes;
}

TEST_F(TeamTest, FindsWhatOneDeviceFinds) {
  Meeting meeting;
  Coordinator machine = team(
      devices(meeting.of(std::make_unique<LateDevice>()), meeting.of(cpu()), meeting.of(cpu())));
  EXPECT_EQ(machine.devices().size(), 3u);
  EXPECT_EQ(&machine.device(), machine.devices().front());
  for (int pass = 0; pass < 5; ++pass) {  // the same lanes and pools
    const auto [sum, stats] = fold(machine, SharedSum{}, source_);
    EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
    EXPECT_EQ(stats.outcome.bytes, bytes_);
    EXPECT_FALSE(stats.outcome.partial);
    EXPECT_EQ(bytes_of_all(stats), bytes_);
    if (pass == 0) {  // in which they meet
      EXPECT_TRUE(stats.outcome.remarks.empty());
      EXPECT_EQ(stats.layout.device, "late + cpu + cpu");
      ASSERT_EQ(stats.devices.size(), 3u);
      EXPECT_EQ(stats.devices.front().device, "late");
    }
    for (const DeviceShare& share : stats.devices) {
      EXPECT_GE(share.start_seconds, 0);
      EXPECT_GE(share.busy_seconds, 0);
      EXPECT_GE(share.idle_seconds, 0);
    }
  }
}

TEST_F(TeamTest, EachDeviceTakesWhatItHasTimeFor) {
  Meeting meeting;
  Coordinator machine =
      team(devices(meeting.of(cpu(), 8000us), meeting.of(cpu(), 500us)), {.streams = 1});
  const auto [sum, stats] = fold(machine, SharedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  ASSERT_EQ(stats.devices.size(), 2u);
  const auto [slow, fast] = std::tie(stats.devices[0], stats.devices[1]);
  EXPECT_GT(slow.bytes, 0u);
  EXPECT_GT(fast.bytes, slow.bytes);
  EXPECT_EQ(slow.bytes + fast.bytes, bytes_);
  EXPECT_EQ(stats.layout.streams, 2u);
  for (const DeviceShare& share : stats.devices) {
    EXPECT_EQ(share.streams, 1u);
    EXPECT_GT(share.busy_seconds, 0);
    EXPECT_NEAR(share.start_seconds + share.busy_seconds + share.idle_seconds, stats.timing.seconds,
                1e-9);
  }
}

TEST_F(TeamTest, OfEightFindsTheSame) {
  Meeting meeting;
  std::vector<std::unique_ptr<Device>> eight;
  for (int i = 0; i < 8; ++i) {
    eight.push_back(meeting.of(cpu(), std::chrono::microseconds(200 * i)));
  }
  Coordinator machine = team(std::move(eight), {.streams = 1});
  const auto [sum, stats] = fold(machine, SharedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  EXPECT_EQ(stats.devices.size(), 8u);
  EXPECT_EQ(bytes_of_all(stats), bytes_);
}

// All data are read in the meantime, so that a process does not wait for it either.
TEST_F(TeamTest, APassDoesNotWaitForADeviceThatStarts) {
  auto starting = std::make_unique<StartingDevice>();
  const auto start = starting->start();
  Coordinator machine = team(devices(std::move(starting), cpu()));
  const auto [sum, stats] = fold(machine, SharedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  EXPECT_EQ(stats.layout.device, "cpu");
  ASSERT_EQ(stats.devices.size(), 1u);
  EXPECT_EQ(stats.outcome.remarks,
            std::vector<std::string>{
                "1 of 2 devices took no part: all was read before they had started"});
  *start = true;
  EXPECT_EQ(bits_of(fold(machine, SharedSum{}, source_).value), bits_of(sum));
}

/// Waits at a step of the CPU until the device that has started by then has one, too.
struct SumOfBoth : SharedSum {
  std::shared_ptr<std::atomic<bool>> start;
  std::atomic<int>& of_cpu;
  std::atomic<int>& of_device;

  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    if (stream.kind() == DeviceKind::cuda) {
      ++of_device;
    } else if (++of_cpu > 20) {
      *start = true;
      while (of_device == 0) std::this_thread::sleep_for(50us);
    }
    SharedSum::consume(stream, in, sum);
  }
};

TEST_F(TeamTest, ADeviceTakesPartOnceItHasStarted) {
  auto starting = std::make_unique<StartingDevice>();
  std::atomic<int> of_cpu{0}, of_device{0};
  const SumOfBoth op{{}, starting->start(), of_cpu, of_device};
  Coordinator machine = team(devices(std::move(starting), cpu()), {.streams = 1});
  const auto [sum, stats] = fold(machine, op, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  ASSERT_EQ(stats.devices.size(), 2u);
  EXPECT_EQ(stats.devices.front().device, "late");
  EXPECT_GT(stats.devices.front().start_seconds, stats.devices.back().start_seconds);
}

TEST_F(TeamTest, AStoppedPassCoversTheBeginning) {
  for (const std::size_t at : {1u, 7u, 150u}) {
    std::stop_source stop;
    SharedSum op;
    std::atomic<std::size_t> seen{0};
    op.at_partition = [&] {
      if (++seen == at) stop.request_stop();
    };
    Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()));
    const auto [sum, stats] =
        fold(machine, op, source_, {.stop = stop.get_token(), .keep_partial = true});
    EXPECT_TRUE(stats.outcome.partial);
    EXPECT_TRUE(stats.layout.in_order);
    EXPECT_GT(stats.outcome.bytes, 0u);
    EXPECT_LT(stats.outcome.bytes, bytes_);
    Coordinator one(cpu());
    const std::uint64_t records = stats.outcome.records;
    EXPECT_EQ(stats.outcome.bytes, records * sizeof(float));
    EXPECT_EQ(records % (2 * partition), 0u);
    const float expected = fold(one, SharedSum{}, section(source_, 0, records)).value;
    EXPECT_EQ(bits_of(sum), bits_of(expected));
  }
}

TEST_F(TeamTest, AStopThrowsUnlessWhatWasFoundIsKept) {
  std::stop_source stop;
  stop.request_stop();
  Coordinator machine = team(devices(std::make_unique<StartingDevice>(), cpu()));
  test::expect_error(ErrorKind::interrupted, "interrupted",
                     [&] { fold(machine, SharedSum{}, source_, {.stop = stop.get_token()}); });
}

TEST_F(TeamTest, StepsThatComeInPiecesAreWhole) {
  // The late device puts steps of 64 KiB together from smaller chunks; the CPU reads them at once.
  for (const std::size_t chunk : {std::size_t{1}, chunk_, 3 * chunk_}) {
    Coordinator machine =
        team(devices(std::make_unique<LateDevice>(), cpu()), {.chunk_bytes = chunk});
    EXPECT_EQ(bits_of(fold(machine, SharedSum{}, source_).value), bits_of(alone(SharedSum{})));
  }
}

/// The largest sum of a value and its neighbours.
struct LargestWindow {
  using Input = float;
  using Partial = float;
  static constexpr std::size_t partition_records = partition;
  static constexpr bool same_bits_everywhere = true;
  std::size_t before() const { return 3; }
  std::size_t after() const { return 2; }
  void consume(Stream& stream, DeviceWindow<const float> in, float& most) const {
    const DeviceSpan<const float> all{in.data - in.before, in.before + in.size + in.after};
    const auto host = test::on_host<const float>(stream, all);
    for (std::size_t i = 0; i < in.size; ++i) {
      float sum = 0;
      const std::size_t first = i + in.before - std::min<std::size_t>(i + in.before, 3);
      const std::size_t last = std::min(i + in.before + 2, host.size() - 1);
      for (std::size_t k = first; k <= last; ++k) sum += host[k];
      most = std::max(most, sum);
    }
  }
  void merge(float& total, const float& part) const { total = std::max(total, part); }
};

TEST_F(TeamTest, ReadsNeighbours) {
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()));
  const auto [most, stats] = fold(machine, LargestWindow{}, source_);
  EXPECT_EQ(most, alone(LargestWindow{}));
  EXPECT_FALSE(stats.devices.empty());
}

TEST_F(TeamTest, CollectsAndSavesLikeOneDevice) {
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()));
  auto part = collect(machine, SharedSum{}, shard(source_, 0, 2, partition)).value;
  Coordinator one(cpu());
  part.merge(collect(one, SharedSum{}, shard(source_, 1, 2, partition)).value);
  EXPECT_EQ(bits_of(std::move(part).result()), bits_of(alone(SharedSum{})));
}

TEST_F(TeamTest, SavesFindingsAndGoesOn) {
  const auto path = file_.path().parent_path() / "sum.part";
  std::size_t runs = 0;
  for (bool done = false; !done;) {
    ASSERT_LT(++runs, 30u);
    std::stop_source stop;
    std::atomic<std::size_t> seen{0};
    SharedSum op;
    op.at_partition = [&] {
      if (++seen == 60) stop.request_stop();
    };
    Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()));
    try {
      const auto [sum, stats] =
          fold(machine, op, source_, {.stop = stop.get_token(), .checkpoint = {.file = path}});
      EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
      done = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
    }
  }
  EXPECT_GT(runs, 2u);
}

TEST_F(TeamTest, ReportsTheProgressOfAllDevices) {
  std::vector<Progress> reports;
  Coordinator machine = team(devices(slowed(cpu(), 3000us), slowed(cpu(), 3000us)), {.streams = 1});
  fold(machine, SharedSum{}, source_,
       {.progress = [&](const Progress& progress) { reports.push_back(progress); }});
  ASSERT_GT(reports.size(), 1u);
  EXPECT_EQ(reports.back().bytes, bytes_);
  EXPECT_EQ(reports.back().total_bytes, bytes_);
  EXPECT_TRUE(std::ranges::is_sorted(reports, {}, &Progress::bytes));
}

/// Waits at a step of one kind of device until the other kind has one, too.
struct SumOfTwoKinds : SharedSum {
  std::atomic<int>& kinds;

  void consume(Stream& stream, DeviceChunk<const float> in, float& sum) const {
    kinds |= stream.kind() == DeviceKind::cuda ? 1 : 2;
    while (kinds != 3) std::this_thread::sleep_for(50us);
    SharedSum::consume(stream, in, sum);
  }
};

TEST_F(TeamTest, CountsTheLanesOfAllDevicesTogether) {
  std::mutex mutex;
  std::set<std::size_t> lanes;
  const auto observe = [&](const TraceEvent& done) {
    const std::scoped_lock lock(mutex);
    if (done.kind == TraceEvent::Kind::kernel) lanes.insert(done.worker);
  };
  std::atomic<int> kinds{0};
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()), {.streams = 2});
  fold(machine, SumOfTwoKinds{{}, kinds}, source_, {.observe = observe});
  EXPECT_LT(*lanes.begin(), 2u);
  EXPECT_GE(*lanes.rbegin(), 2u);
}

struct Ordered : SharedSum {
  static constexpr Merge merge_order = Merge::in_order;
};

// Each of these runs on the first device, and says why.
TEST_F(TeamTest, OtherPassesRunOnOneDevice) {
  Coordinator machine = team(devices(cpu(), std::make_unique<LateDevice>()));
  const auto expect_alone = [](const Stats& stats, const std::string& why) {
    EXPECT_EQ(stats.layout.device, "cpu");
    EXPECT_TRUE(stats.devices.empty());
    EXPECT_EQ(stats.outcome.remarks, std::vector<std::string>{"only cpu ran this pass: " + why});
  };
  expect_alone(fold(machine, NamedSum{}, source_).stats,
               "its operator does not promise the same bits on the CPU and on a GPU");
  expect_alone(fold(machine, SharedSum{}, source_, {.checksum = true}).stats,
               "a checksum is of the bytes in their order");
  expect_alone(fold(machine, Ordered{}, source_).stats,
               "its findings are merged in the order of the data");
  Resident resident(machine, source_);
  expect_alone(fold(machine, SharedSum{}, resident).stats, "its input stays on that device");
  const Target target{.path = file_.path().parent_path() / "doubled.f32", .type = ElementType::f4};
  expect_alone(map(machine, test::Doubled{}, source_, target).stats, "it writes a file");
}

TEST_F(TeamTest, DevicesOfOneKindShareAllPassesThatAreNotInOrder) {
  Meeting meeting;
  Coordinator machine = team(devices(meeting.of(cpu()), meeting.of(cpu())));
  const auto [sum, stats] = fold(machine, NamedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(NamedSum{})));
  EXPECT_EQ(stats.devices.size(), 2u);
}

TEST_F(TeamTest, OfSeveralOperatorsAllMustBeShared) {
  Coordinator machine = team(devices(cpu(), std::make_unique<LateDevice>()));
  EXPECT_TRUE(fold(machine, std::tuple(SharedSum{}, NamedSum{}), source_).stats.devices.empty());
  const auto [found, stats] = fold(machine, std::tuple(SharedSum{}, SharedSum{}), source_);
  EXPECT_FALSE(stats.devices.empty());
  EXPECT_EQ(bits_of(std::get<0>(found)), bits_of(alone(SharedSum{})));
}

TEST_F(TeamTest, ReadsNothingOfAnEmptySource) {
  const Source empty = section(source_, 0, 0);
  Coordinator machine = team(devices(std::make_unique<StartingDevice>(), cpu()));
  const auto [sum, stats] = fold(machine, SharedSum{}, empty);
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(stats.outcome.bytes, 0u);
  EXPECT_FALSE(stats.outcome.partial);
}

TEST_F(TeamTest, AllDevicesTogetherKeepToTheLimitOfMemory) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()),
                             {.chunk_bytes = 1, .memory_bytes = limit});
  const auto [sum, stats] = fold(machine, SharedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  EXPECT_LE(stats.layout.pool_bytes, limit);
  for (Device* device : machine.devices()) {
    EXPECT_LE(device->host_memory().peak_bytes(), limit / 2);
  }
}

// A pass that is not shared, and a job that reserves the coordinator, have all of it.
TEST_F(TeamTest, OneDeviceAloneHasTheWholeLimitOfMemory) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  Coordinator machine = team(devices(cpu(), cpu()), {.chunk_bytes = 1, .memory_bytes = limit});
  MeteredMemory& memory = machine.device().host_memory();
  fold(machine, SharedSum{}, source_);
  EXPECT_EQ(memory.limit(), limit / 2);
  fold(machine, SharedSum{}, source_, {.checksum = true});
  EXPECT_EQ(memory.limit(), limit);
  EXPECT_EQ(machine.devices().back()->host_memory().bytes_in_use(), 0u);
  fold(machine, SharedSum{}, source_);
  EXPECT_EQ(memory.limit(), limit / 2);
  { const Reservation reservation = reserve(machine); }
  EXPECT_EQ(memory.limit(), limit);
  EXPECT_EQ(options_of_each(machine, 2).memory_bytes, limit / 2);
  { const Reservation reservation = reserve(machine, machine.devices()); }
  EXPECT_EQ(memory.limit(), limit / 2);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
  Device* const first[]{machine.devices().front()};
  { const Reservation reservation = reserve(machine, first); }
  EXPECT_EQ(memory.limit(), limit);
}

TEST(Team, HasAtLeastOneDevice) {
  test::expect_error(ErrorKind::usage, "a coordinator has at least one device",
                     [] { Coordinator(std::vector<std::unique_ptr<Device>>{}); });
}

TEST(AllDevices, EndWithTheCpu) {
  const auto all = all_devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back()->kind(), DeviceKind::cpu);
}

}  // namespace
}  // namespace ooc::detail
