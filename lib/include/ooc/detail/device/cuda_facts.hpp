#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ooc {

/// A GPU, without starting it.
struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  std::uint64_t memory_bytes = 0;
  int major = 0, minor = 0;  // compute capability
  std::string pci_address;   // "0000:1b:00.0", as in sysfs
};

/// What there is of CUDA on this machine and in this build. Versions are 13020 for 13.2, and 0 if
/// there is none.
struct CudaFacts {
  int built_for = 0;             // the toolkit's runtime, which is linked
  int driver_allows = 0;         // the latest that the driver knows
  std::string why_no_gpu;        // as why_no_gpu() has it
  std::vector<GpuFacts> gpus{};  // with and without code in this build
  std::string architectures{};   // that this build has code for, as CMake names them: "75 90-real"
};

/// What Device::name() says of a GPU: "cuda:0 NVIDIA H200".
inline std::string device_name(int ordinal, const std::string& gpu) {
  return "cuda:" + std::to_string(ordinal) + " " + gpu;
}

/// Asks the driver, which takes some tenths of a second where there is a GPU. Never throws.
CudaFacts cuda_facts();

}  // namespace ooc
