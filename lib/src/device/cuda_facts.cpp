#include <ooc/detail/device/cuda_facts.hpp>

#include <ooc/detail/base/letters.hpp>
#include <ooc/device.hpp>

#include <cuda_runtime_api.h>

#include <array>

namespace ooc {
namespace {

/// Returns the PCI address in lower case, as sysfs writes it; empty if CUDA does not report it.
std::string pci_address(int ordinal) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  return lower_case(text.data());
}

}  // namespace

CudaFacts cuda_facts() {
  CudaFacts facts;
  cudaRuntimeGetVersion(&facts.built_for);
  cudaDriverGetVersion(&facts.driver_allows);
  facts.why_no_gpu = why_no_gpu();
  facts.architectures = OOC_CUDA_ARCHITECTURES;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return facts;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    facts.gpus.push_back({properties.name, properties.totalGlobalMem, properties.major,
                          properties.minor, pci_address(ordinal)});
  }
  return facts;
}

}  // namespace ooc
