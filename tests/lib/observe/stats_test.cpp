#include <ooc/stats.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace ooc::detail {
namespace {

using Sentences = std::vector<std::string>;

const Reason a{ReasonKind::engine, "a"};
const Reason b{.what = ReasonKind::mixed_reads, .figures = {40}};
const Reason c{.what = ReasonKind::mixed_reads, .figures = {60}};

Stats first_pass() {
  Stats stats;
  stats.layout = {.reads_inline = true,
                  .reasons = {a, b},
                  .page_cache_fraction = 0.25,
                  .chunk_bytes = 10,
                  .streams = 2,
                  .pool_bytes = 300};
  stats.timing = {.seconds = 2,
                  .startup_seconds = 1,
                  .disk = {.busy = 3},
                  .decode = {.busy = 2},
                  .kernel = {.busy = 4}};
  stats.outcome = {
      .records = 250, .bytes = 1000, .stored_bytes = 10, .checksum = "same", .remarks = {"x"}};
  return stats;
}

Stats second_pass() {
  Stats stats;
  stats.layout = {.reasons = {b, c},
                  .page_cache_fraction = 0.75,
                  .chunk_bytes = 20,
                  .streams = 4,
                  .pool_bytes = 200};
  stats.timing = {.seconds = 5, .disk = {.busy = 1}, .decode = {.busy = 3}, .kernel = {.busy = 16}};
  stats.outcome = {.records = 225,
                   .bytes = 900,
                   .stored_bytes = 20,
                   .bytes_written = 7,
                   .partial = true,
                   .checksum = "same",
                   .remarks = {"x", "y"}};
  return stats;
}

TEST(Stats, OfSeveralPassesAreAddedUp) {
  Stats both = first_pass();
  both += second_pass();
  EXPECT_EQ(both.timing.seconds, 7);
  EXPECT_EQ(both.timing.startup_seconds, 1);
  EXPECT_EQ(both.timing.disk.busy, 4);
  EXPECT_EQ(both.timing.decode.busy, 5);
  EXPECT_EQ(both.outcome.stored_bytes, 30u);
  EXPECT_EQ(both.timing.kernel.busy, 4 * 2 + 16) << "as if the first pass had had four streams";
  EXPECT_EQ(both.outcome.passes, 2u);
  EXPECT_EQ(both.outcome.records, 225u);
  EXPECT_EQ(both.outcome.bytes, 900u) << "`bytes` counts the source once";
  EXPECT_EQ(both.outcome.bytes_written, 7u);
  EXPECT_TRUE(both.outcome.partial);
  EXPECT_EQ(both.outcome.remarks, (Sentences{"x", "y"}));
}

TEST(Stats, DescribeTheLastPassAndTheMostMemory) {
  Stats both = first_pass();
  both += second_pass();
  EXPECT_EQ(both.layout.chunk_bytes, 20u);
  EXPECT_EQ(both.layout.pool_bytes, 300u);
  EXPECT_EQ(both.layout.page_cache_fraction, 0.25) << "as before the first pass";
  EXPECT_FALSE(both.layout.reads_inline);
  EXPECT_EQ(both.layout.reasons, (std::vector{a, b, c}));
}

// The pass before shows how the job reads.
TEST(Stats, OfDevicesOfOneNameAreAddedUp) {
  Stats first, next;
  first.devices = {{"gpu", 2, 100, 1.5, 0.5, 0.25}, {"cpu", 8, 50, 1, 0, 0}};
  next.devices = {{"cpu", 4, 60, 2, 1, 0.5}, {"late", 1, 1, 1, 1, 1}};
  const auto [gpu, cpu, late] = [&] {
    first += next;
    EXPECT_EQ(first.devices.size(), 3u);
    return std::tuple{first.devices[0], first.devices[1], first.devices[2]};
  }();
  EXPECT_EQ(gpu.bytes, 100u);
  EXPECT_EQ(cpu.device, "cpu");
  EXPECT_EQ(cpu.streams, 8u);
  EXPECT_EQ(cpu.bytes, 110u);
  EXPECT_EQ(cpu.busy_seconds, 3);
  EXPECT_EQ(cpu.start_seconds, 1);
  EXPECT_EQ(cpu.idle_seconds, 0.5);
  EXPECT_EQ(late.device, "late");
}

TEST(Stats, OfDevicesAtTheSameTimeAreAddedUp) {
  Stats one, other;
  one.layout = {.device = "A", .reads_inline = true, .streams = 2, .pool_bytes = 10};
  one.layout.reasons = {{ReasonKind::two_streams}};
  one.timing = {.seconds = 3, .startup_seconds = 2, .kernel = {.busy = 1}};
  one.outcome = {.records = 1, .bytes = 5, .bytes_written = 1, .remarks = {"slow"}};
  other.layout = {.device = "B", .streams = 3, .pool_bytes = 7};
  other.layout.reasons = {{ReasonKind::two_streams}, {ReasonKind::stream_per_core}};
  other.timing = {.seconds = 3, .startup_seconds = 1, .kernel = {.busy = 2}, .write = {.busy = 4}};
  other.outcome = {.records = 2, .bytes = 6, .bytes_written = 2, .remarks = {"slow", "cold"}};
  one.add_beside(other);
  EXPECT_EQ(one.layout.device, "A + B");
  EXPECT_FALSE(one.layout.reads_inline);
  EXPECT_EQ(one.layout.streams, 5u);
  EXPECT_EQ(one.layout.pool_bytes, 17u);
  EXPECT_EQ(one.layout.reasons, other.layout.reasons);
  EXPECT_EQ(one.timing.seconds, 3);
  EXPECT_EQ(one.timing.startup_seconds, 1);
  EXPECT_EQ(one.timing.kernel.busy, 3);
  EXPECT_EQ(one.timing.write.busy, 4);
  EXPECT_EQ(one.outcome.records, 3u);
  EXPECT_EQ(one.outcome.bytes, 11u);
  EXPECT_EQ(one.outcome.bytes_written, 3u);
  EXPECT_EQ(one.outcome.remarks, (std::vector<std::string>{"slow", "cold"}));
}

TEST(Stats, DescribeThePassBeforeOneThatFoundDataOnTheDevice) {
  Stats both = first_pass(), next = second_pass();
  next.outcome.resident_bytes = next.outcome.bytes;
  next.layout.in_order = false;
  next.layout.device_bytes = 77;
  both.layout.device = "a GPU";
  both += next;
  EXPECT_EQ(both.layout.chunk_bytes, 10u);
  EXPECT_EQ(both.layout.streams, 2u);
  EXPECT_EQ(both.layout.pool_bytes, 300u);
  EXPECT_EQ(both.layout.device_bytes, 77u);
  EXPECT_EQ(both.layout.device, "a GPU");
  EXPECT_FALSE(both.layout.in_order) << "what the partial result of the next pass covers";
  EXPECT_EQ(both.timing.kernel.busy, 4 + 16 / 2) << "as if both had had two streams";
  EXPECT_EQ(both.outcome.resident_bytes, 900u);
  EXPECT_EQ(both.layout.reasons, (std::vector{a, b, c}));
  both += next;
  EXPECT_EQ(both.outcome.resident_bytes, 1800u);
}

}  // namespace
}  // namespace ooc::detail
