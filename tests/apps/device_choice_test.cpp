#include "device_choice.hpp"

#include <gtest/gtest.h>

namespace ooc_run {
namespace {

constexpr MachineRates machine{
    .cores = 16, .disk = 3e9, .core_copies = 6e9, .link = 50e9, .gpu_start = 0.25};

TEST(Predict, CountsTheGpusStart) {
  const Prediction nothing = predict({}, machine);
  EXPECT_EQ(nothing.cpu_seconds, 0);
  EXPECT_EQ(nothing.gpu_seconds, 0.25);
}

TEST(Predict, TakesTheSlowestStage) {
  // 60 GB of which half comes from the disk, in 10 s; copies take 5 core seconds.
  const Prediction disk = predict({.bytes = 60e9, .cached = 0.5, .core_seconds = 15}, machine);
  EXPECT_DOUBLE_EQ(disk.cpu_seconds, 10);
  EXPECT_DOUBLE_EQ(disk.gpu_seconds, 10.25);
  const Prediction warm = predict({.bytes = 60e9, .cached = 1, .core_seconds = 54}, machine);
  EXPECT_DOUBLE_EQ(warm.cpu_seconds, (10 + 54) / 16.0);
  EXPECT_DOUBLE_EQ(warm.gpu_seconds, 0.25 + 1.2);
}

TEST(ChooseDevice, TakesWhatWasAskedFor) {
  const Workload small{.bytes = 1};
  EXPECT_EQ(choose_device(ooc::DeviceKind::cuda, small, machine).kind, ooc::DeviceKind::cuda);
  EXPECT_EQ(choose_device(ooc::DeviceKind::cuda, small, machine).reason, "");
}

TEST(ChooseDevice, DoesNotStartAGpuForLittle) {
  const DeviceChoice choice =
      choose_device({}, {.bytes = 100e6, .cached = 1, .core_seconds = 0.04}, machine);
  EXPECT_EQ(choice.kind, ooc::DeviceKind::cpu);
  EXPECT_EQ(choice.reason,
            "computing on the CPU: predicted to take 3.54 ms; a GPU, not looked for, 252 ms");
}

// A GPU is the choice if it is there; why it is not is the driver's word.
TEST(ChooseDevice, TakesAGpuForMuch) {
  for (const Workload& work : {Workload{.bytes = 60e9, .cached = 1, .core_seconds = 54},
                               Workload{.bytes = 60e9, .cached = 0, .core_seconds = 1}}) {
    const DeviceChoice choice = choose_device({}, work, machine);
    const std::string why_not = ooc::why_no_gpu();
    if (why_not.empty()) {
      EXPECT_EQ(choice.kind, ooc::DeviceKind::cuda);
      EXPECT_TRUE(choice.reason.starts_with("computing on the GPU: predicted to take "));
    } else {
      EXPECT_EQ(choice.kind, ooc::DeviceKind::cpu);
      EXPECT_EQ(choice.reason, "computing on the CPU: " + why_not);
    }
  }
}

}  // namespace
}  // namespace ooc_run
