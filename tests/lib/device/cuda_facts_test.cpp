#include <ooc/detail/device/cuda_facts.hpp>

#include <ooc/device.hpp>

#include <gtest/gtest.h>

namespace ooc {
namespace {

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

}  // namespace
}  // namespace ooc
