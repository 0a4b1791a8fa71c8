#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ooc::detail {

/// Properties of a GPU.
struct GpuFacts {
  std::string name;  // "NVIDIA H200"
  std::uint64_t memory_bytes = 0;
  int major = 0, minor = 0;  // compute capability
  std::string pci_address;   // "0000:1b:00.0", as in sysfs
};

/// CUDA on this machine and in this build. A version is 13020 for 13.2, and 0 if there is none.
struct CudaFacts {
  int built_for = 0;             // version of the linked CUDA runtime
  int driver_allows = 0;         // latest version that the driver supports
  std::string why_no_gpu;        // as from why_no_gpu()
  std::vector<GpuFacts> gpus{};  // with and without code in this build
  std::string architectures{};   // architectures of this build, as CMake names them: "75 90-real"
};

/// Returns a GPU's Device::name(): "cuda:0 NVIDIA H200".
inline std::string device_name(int ordinal, const std::string& gpu) {
  return "cuda:" + std::to_string(ordinal) + " " + gpu;
}

/// Returns the number of GPUs that this program may use, by their device files and
/// CUDA_VISIBLE_DEVICES: the driver is not asked, and may refuse one of them. 0 in a build without
/// CUDA.
int visible_gpus(const std::string& dev = "/dev");

/// Returns the PCI address of a GPU in lower case, as sysfs writes it; empty if CUDA reports none.
std::string pci_address(int ordinal);

/// Queries the driver. Takes some tenths of a second if there is a GPU. Never throws.
CudaFacts cuda_facts();

}  // namespace ooc::detail
