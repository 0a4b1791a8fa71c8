#include "verdict.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

ooc::Stats ten_seconds() {
  ooc::Stats stats;
  stats.bytes = 50'000'000'000;
  stats.seconds = 10;
  stats.streams = 2;
  stats.page_cache_fraction = 0.0;
  return stats;
}

TEST(Verdict, DiskBounds) {
  ooc::Stats stats = ten_seconds();
  stats.disk.busy = 9.8;
  stats.h2d.busy = 2;
  stats.kernel.busy = 0.6;  // of two streams: 3 %
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cuda),
            "disk-bound: 5.00 GB/s, busy 98 % (ceiling not measured); GPU idle 97 %");
}

TEST(Verdict, CachedBytesComeFromThePageCache) {
  ooc::Stats stats = ten_seconds();
  stats.page_cache_fraction = 0.9;
  stats.disk.busy = 9;
  stats.kernel.busy = 10;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cpu),
            "read-bound: 5.00 GB/s from the page cache, busy 90 % (ceiling not measured); "
            "CPU kernel idle 50 %");
}

TEST(Verdict, CopyBounds) {
  ooc::Stats stats = ten_seconds();
  stats.disk.busy = 5;
  stats.h2d.busy = 19;
  EXPECT_EQ(
      verdict(stats, ooc::DeviceKind::cuda),
      "copy-bound: 5.00 GB/s, busy 95 % (ceiling not measured); GPU idle 100 %, disk idle 50 %");
}

TEST(Verdict, KernelBoundsOverTwoPasses) {
  ooc::Stats stats = ten_seconds();
  stats.passes = 2;
  stats.page_cache_fraction = {};
  stats.disk.busy = 4;
  stats.kernel.busy = 19.4;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cpu),
            "kernel-bound: 10.0 GB/s, busy 97 % (ceiling not measured); disk idle 60 %");
}

TEST(Verdict, NobodyBounds) {
  ooc::Stats stats = ten_seconds();
  stats.disk.busy = 4;
  stats.kernel.busy = 6;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cpu),
            "no stage bounds the run: 5.00 GB/s (ceiling not measured); CPU kernel idle 70 %, "
            "disk idle 60 %");
}

TEST(Verdict, WritingBoundsWithItsEnd) {
  ooc::Stats stats = ten_seconds();
  stats.bytes_written = 20'000'000'000;
  stats.disk.busy = 6;
  stats.kernel.busy = 2;
  stats.write.busy = 7;
  stats.publish_seconds = 2.5;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cuda),
            "write-bound: 5.00 GB/s, 2.00 GB/s written, busy 95 % (ceiling not measured); "
            "GPU idle 90 %, reading idle 40 %");
}

TEST(Verdict, CopyingBackBounds) {
  ooc::Stats stats = ten_seconds();
  stats.bytes_written = 20'000'000'000;
  stats.d2h.busy = 19;
  stats.disk.busy = 9;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cuda),
            "copy-back-bound: 5.00 GB/s, 2.00 GB/s written, busy 95 % (ceiling not measured); "
            "GPU idle 100 %, reading idle 10 %, writing idle 100 %");
}

TEST(Verdict, InterruptedRunsHaveNone) {
  ooc::Stats stats = ten_seconds();
  stats.partial = true;
  stats.disk.busy = 10;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cpu), "");
}

TEST(Verdict, ShortRunsHaveNone) {
  ooc::Stats stats = ten_seconds();
  stats.seconds = 1;
  stats.disk.busy = 1;
  EXPECT_EQ(verdict(stats, ooc::DeviceKind::cpu), "");
}

}  // namespace
}  // namespace ooc_run
