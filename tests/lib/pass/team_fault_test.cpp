// Devices of a team that fail.

#include "pass/team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include "lib/pass/team_fixture.hpp"
#include "support/bits.hpp"
#include "support/faulty_device.hpp"

namespace ooc::detail {
namespace {

using test::bits_of;
using test::cpu;
using test::DeviceFault;
using test::devices;
using test::Fault;
using test::faulty_device;
using test::LateDevice;
using test::SharedSum;
using test::TeamTest;

/// Every call of one of two devices fails in turn: the pass ends with that error, and the next one
/// is right.
class TeamFaultTest : public TeamTest, public testing::WithParamInterface<DeviceFault> {};

TEST_P(TeamFaultTest, OneErrorEndsThePass) {
  const float expected = alone(SharedSum{});
  test::walk(Fault::Mode::once, 37, [&](Fault& fault) {
    Coordinator machine =
        team(devices(faulty_device(std::make_unique<LateDevice>(), GetParam(), fault), cpu()));
    int failures = 0;
    for (int pass = 0; pass < 2; ++pass) {
      try {
        EXPECT_EQ(bits_of(fold(machine, SharedSum{}, source_).value), bits_of(expected));
      } catch (const Error& error) {
        EXPECT_TRUE(fault.has_struck()) << error.what();
        EXPECT_EQ(++failures, 1) << error.what();
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, TeamFaultTest,
                         testing::Values(DeviceFault::host_memory, DeviceFault::device_memory,
                                         DeviceFault::call, DeviceFault::late));

TEST_F(TeamTest, AnOperatorThatThrowsOnOneDeviceEndsThePass) {
  SharedSum op;
  std::atomic<int> seen{0};
  op.at_partition = [&] {
    if (++seen == 50) throw std::runtime_error("broken");
  };
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu(), cpu()));
  EXPECT_THROW(fold(machine, op, source_), std::runtime_error);
  EXPECT_EQ(bits_of(fold(machine, SharedSum{}, source_).value), bits_of(alone(SharedSum{})));
}

TEST_F(TeamTest, AnExceptionFromTheReportOfProgressEndsThePass) {
  Coordinator machine = team(devices(std::make_unique<LateDevice>(), cpu()));
  const auto fail = [](const Progress&) { throw std::runtime_error("no terminal"); };
  EXPECT_THROW(fold(machine, SharedSum{}, source_, {.progress = fail}), std::runtime_error);
}

// The device that has no room takes smaller steps. Blocks are whole ones of these, too.
TEST_F(TeamTest, ADeviceWithoutRoomTakesSmallerSteps) {
  Coordinator machine(devices(std::make_unique<LateDevice>(), cpu()),
                      {.device_bytes = std::size_t{3} << 20});
  const auto [sum, stats] = fold(machine, SharedSum{}, source_);
  EXPECT_EQ(bits_of(sum), bits_of(alone(SharedSum{})));
  EXPECT_EQ(stats.outcome.bytes, bytes_);
}

}  // namespace
}  // namespace ooc::detail
