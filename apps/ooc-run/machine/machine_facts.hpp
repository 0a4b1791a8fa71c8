#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/detail/device/cuda_facts.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Directories of the kernel's information files. Tests use other directories.
struct KernelFiles {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

/// State of io_uring: the result of creating an instance, and settings that may forbid it.
struct UringFacts {
  bool usable = false;
  std::string why_not{};                   // "io_uring is not available: ... (EPERM)"
  int errno_value = 0;                     // of `why_not`; 0: the kernel's io_uring is too old
  std::string why_not_registered{};        // why buffers cannot be registered, if usable
  std::optional<std::int64_t> disabled{};  // kernel.io_uring_disabled: 0, 1 or 2; since Linux 6.6
  bool filtered = false;                   // a seccomp filter checks our system calls
};
UringFacts uring_facts(const KernelFiles& files = {});

/// Current and maximum speed of a PCI Express link.
struct PcieLink {
  double gigatransfers = 0, most_gigatransfers = 0;  // per second and PCIe lane
  std::int64_t lanes = 0, most_lanes = 0;
};

/// Returns the link of the device at a PCI address such as "0000:1b:00.0". Empty if sysfs does not
/// show it.
std::optional<PcieLink> pcie_link(const std::string& address, const KernelFiles& files = {});

/// Returns the NUMA node of the device at a PCI address. Empty if it is unknown.
std::optional<int> numa_node_of(const std::string& address, const KernelFiles& files = {});

/// True if the machine has several NUMA nodes.
bool has_many_numa_nodes(const KernelFiles& files = {});

/// Limits of the control groups of this process: the smallest along the hierarchy.
struct GroupLimits {
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> cores{};  // CPU time per second; not a set of cores
};
GroupLimits group_limits(const KernelFiles& files = {});

/// The number of threads that this process can still start.
struct ThreadLimit {
  std::uint64_t left = 0;
  std::string_view by;  // the limit's usual name, for messages
};

/// Returns the tightest limit on threads: of the control groups, of the user, or of the address
/// space, from which every thread takes its stack. Empty if there is none.
std::optional<ThreadLimit> thread_limit(const KernelFiles& files = {});

/// Returns "docker", "kubernetes" and so on if there are signs of a container; else empty.
std::string container_name(const KernelFiles& files = {});

/// Soft limits of this process. ooc-run raises its limit on open files at start as far as allowed.
struct ProcessLimits {
  std::optional<std::uint64_t> locked_bytes{};  // empty: unlimited
  std::optional<std::uint64_t> open_files{};
};
ProcessLimits process_limits(const KernelFiles& files = {});

/// Returns the reason why a run on the GPU with this ordinal would fail; empty if it would not.
std::string why_not_on_gpu(const ooc::detail::CudaFacts& cuda, std::size_t ordinal);

}  // namespace ooc_run
