#include <ooc/detail/device/cuda_facts.hpp>

#include <ooc/detail/base/letters.hpp>
#include <ooc/device.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

namespace ooc::detail {

std::string pci_address(int ordinal) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  return lower_case(text.data());
}

int visible_gpus(const std::string& dev) {
  int files = 0;  // "nvidia0" and so on, but not "nvidiactl"
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(dev, failed)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view prefix = "nvidia";
    files += name.starts_with(prefix) && name.size() > prefix.size() &&
             name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  }
  const char* const chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen == nullptr) return files;
  // An index without a GPU hides all those after it. Words that are not numbers are names of GPUs.
  int visible = 0;
  std::istringstream words(chosen);
  for (std::string word; std::getline(words, word, ',') && visible < files; ++visible) {
    int index = 0;
    const bool is_index = static_cast<bool>(std::istringstream(word) >> index);
    if (is_index && (index < 0 || index >= files)) break;
  }
  return visible;
}

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

}  // namespace ooc::detail
