// Tests the constants of operators: runs_on and partition_records. Others are tested with the
// passes that they change.

#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/write.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/float_sum.hpp"
#include "support/late_device.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::FloatSum;

class OperatorSettingsTest : public testing::Test {
 protected:
  Target target(const std::string& name) const { return {dir_.path() / name}; }

  test::TempDir dir_;
  std::vector<float> values_ = std::vector<float>(100'003, 1.0f);
};

struct OnCpu : FloatSum {
  static constexpr DeviceKind runs_on = DeviceKind::cpu;
  using Output = float;
  void transform(Stream&, DeviceSpan<const float>, DeviceSpan<float>) const {}
  void select(Stream&, DeviceSpan<const float>, DeviceSpan<float>, std::uint64_t*) const {}
  void produce(Stream&, DeviceSpan<float>) const {}
};
struct OnGpu : FloatSum {
  static constexpr DeviceKind runs_on = DeviceKind::cuda;
};

TEST_F(OperatorSettingsTest, AnOperatorForTheCpuIsRefusedOnAGpu) {
  Coordinator gpu(std::make_unique<test::LateDevice>());
  const Source source = from_memory(values_);
  const auto refuse = [](auto&& run) {
    test::expect_error(ErrorKind::usage, "the operator runs on the CPU, the coordinator has a GPU",
                       run);
  };
  refuse([&] { fold(gpu, OnCpu{}, source); });
  refuse([&] { fold(gpu, std::tuple{FloatSum{}, OnCpu{}}, source); });
  refuse([&] { map(gpu, OnCpu{}, source, target("map.f32")); });
  refuse([&] { filter(gpu, OnCpu{}, source, target("filter.f32")); });
  refuse([&] { write(gpu, OnCpu{}, target("write.f32"), 10); });
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));

  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_device(DeviceKind::cpu));
  devices.push_back(std::make_unique<test::LateDevice>());
  Coordinator both(std::move(devices));
  refuse([&] { fold(both, OnCpu{}, source); });

  Coordinator cpu(make_device(DeviceKind::cpu));
  EXPECT_EQ(fold(cpu, OnCpu{}, source).value, 100'003.0);
  test::expect_error(ErrorKind::usage, "the operator runs on GPUs, the coordinator has the CPU",
                     [&] { fold(cpu, OnGpu{}, source); });
}

/// Writes 1 for each record, and notes chunks that are no whole partitions.
struct InPartitions {
  using Input = float;
  using Output = float;
  static constexpr std::size_t partition_records = 4096;
  std::uint64_t records;
  std::atomic<int>* ragged;

  void look_at(std::uint64_t first, std::size_t size) const {
    const bool is_end = first + size == records;
    if (first % partition_records != 0 || (size % partition_records != 0 && !is_end)) ++*ragged;
  }
  void transform(Stream&, DeviceChunk<const float> in, DeviceSpan<float> out) const {
    look_at(in.first, in.size);
    for (float& value : out) value = 1;
  }
  void select(Stream&, DeviceChunk<const float> in, DeviceSpan<float>, std::uint64_t* kept) const {
    look_at(in.first, in.size);
    *kept = 0;
  }
  void produce(Stream&, DeviceChunk<float> out) const {
    look_at(out.first, out.size);
    for (float& value : out) value = 1;
  }
};

TEST_F(OperatorSettingsTest, PartitionsAreKeptByAllPasses) {
  for (const std::size_t chunk_bytes : {std::size_t{4096}, std::size_t{20'000}, std::size_t{0}}) {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.chunk_bytes = chunk_bytes});
    std::atomic<int> ragged = 0;
    const InPartitions op{values_.size(), &ragged};
    const Source source = from_memory(values_);
    EXPECT_EQ(map(coordinator, op, source, {.path = dir_.path() / "a.f32", .replace = true}).value,
              values_.size());
    EXPECT_EQ(filter(coordinator, op, source, {.path = dir_.path() / "b.f32", .replace = true})
                  .value.seen,
              values_.size());
    EXPECT_EQ(
        write(coordinator, op, {.path = dir_.path() / "c.f32", .replace = true}, values_.size())
            .value,
        values_.size());
    EXPECT_EQ(ragged, 0) << chunk_bytes;
    const Source part = section(source, 100, 5000);
    test::expect_error(ErrorKind::usage, "partition",
                       [&] { map(coordinator, op, part, {.path = dir_.path() / "d.f32"}); });
  }
}

}  // namespace
}  // namespace ooc::detail
