#include <ooc/detail/device/cuda_facts.hpp>

#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// The error that a build without CUDA gives, or nothing.
std::string make_error_of_cuda() {
  try {
    make_cuda_device({.ordinal = 0});
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(CudaFacts, NameTheGpusOrSayWhyThereIsNone) {
  const CudaFacts facts = cuda_facts();
  EXPECT_EQ(facts.why_no_gpu, why_no_gpu());
  // A GPU for which this build has no code is named too.
  if (facts.why_no_gpu.empty()) {
    EXPECT_FALSE(facts.gpus.empty());
  }
  for (const GpuFacts& gpu : facts.gpus) {
    EXPECT_FALSE(gpu.name.empty());
    EXPECT_GT(gpu.memory_bytes, 0u);
    EXPECT_GT(gpu.major, 0);
    EXPECT_GE(gpu.minor, 0);
    EXPECT_EQ(gpu.pci_address.size(), std::string("0000:00:00.0").size());
  }
  if (!facts.gpus.empty()) {
    EXPECT_GE(facts.driver_allows / 1000, facts.built_for / 1000);
  }
}

TEST(CudaFacts, CountDeviceFilesThatMayBeUsed) {
  const test::TempDir dev;
  for (const char* name : {"nvidia0", "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm", "null"}) {
    dev.write(name, std::string());
  }
  const bool has_cuda = make_error_of_cuda().empty();
  const std::string path = dev.path().string();
  const char* const before = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string kept = before == nullptr ? "" : before;
  const auto expect = [&](const char* chosen, int count) {
    chosen == nullptr ? unsetenv("CUDA_VISIBLE_DEVICES")
                      : setenv("CUDA_VISIBLE_DEVICES", chosen, 1);
    EXPECT_EQ(visible_gpus(path), has_cuda ? count : 0) << (chosen == nullptr ? "-" : chosen);
  };
  expect(nullptr, 3);
  expect("", 0);
  expect("1", 1);
  expect("0,2", 2);
  expect("GPU-5f,GPU-77", 2);
  expect("0,-1,2", 1);
  expect("0,1,2,3,4", 3);
  expect("0,9,1", 1);
  expect("9", 0);
  EXPECT_EQ(visible_gpus(path + "/none"), 0);
  before == nullptr ? unsetenv("CUDA_VISIBLE_DEVICES")
                    : setenv("CUDA_VISIBLE_DEVICES", kept.c_str(), 1);
}

}  // namespace
}  // namespace ooc::detail
