#include <ooc/detail/base/io_meter.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

namespace ooc::detail {
namespace {

class IoMeterTest : public testing::Test {
 protected:
  /// Returns the wait in vain after some more time.
  IoMeter::Stall later() {
    meter_.stall();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return meter_.stall();
  }

  IoMeter& meter_ = IoMeter::of_process();
};

TEST_F(IoMeterTest, CountsTimeInWhichAThreadWaits) {
  EXPECT_EQ(later().seconds, 0);
  const IoOperation operation(IoPeer::server);
  EXPECT_EQ(later().seconds, 0) << "in flight, but no thread waits";
  const IoWait wait(IoPeer::server);
  const IoMeter::Stall first = later();
  EXPECT_GE(first.seconds, 0.01);
  EXPECT_EQ(first.peer, IoPeer::server);
  EXPECT_EQ(first.in_flight, 1u);
  EXPECT_GE(later().seconds, first.seconds + 0.01);
}

TEST_F(IoMeterTest, BeginsAnewWithEachCompletedOperation) {
  const IoWait wait(IoPeer::disk);
  EXPECT_GT(later().seconds, 0);
  { const IoOperation operation(IoPeer::disk); }
  EXPECT_EQ(meter_.stall().seconds, 0);
  EXPECT_GT(later().seconds, 0);
}

TEST_F(IoMeterTest, BeginsAnewWithEachKibibyte) {
  { const IoOperation operation(IoPeer::writer); }
  meter_.stall();
  const IoWait wait(IoPeer::writer);
  EXPECT_GT(later().seconds, 0);
  meter_.add(IoMeter::least_bytes - 1);
  const IoMeter::Stall little = later();
  EXPECT_GT(little.seconds, 0);
  EXPECT_EQ(little.bytes, IoMeter::least_bytes - 1);
  meter_.add(1);
  EXPECT_EQ(meter_.stall().seconds, 0);
}

TEST_F(IoMeterTest, StandsStillWhileNoThreadWaits) {
  { const IoOperation operation(IoPeer::disk); }
  auto wait = std::make_unique<IoWait>(IoPeer::disk);
  const double before = later().seconds;
  wait.reset();
  EXPECT_EQ(later().seconds, 0);
  wait = std::make_unique<IoWait>(IoPeer::disk);
  EXPECT_GE(later().seconds, before);
}

}  // namespace
}  // namespace ooc::detail
