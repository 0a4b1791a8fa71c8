#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/cuda_facts.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Where the kernel shows its facts. Tests have directories of their own.
struct KernelFiles {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

/// Whether the kernel lets us have an io_uring, tried out, and what may forbid it.
struct UringFacts {
  bool usable = false;
  std::string why_not{};                   // "io_uring is not available: ... (EPERM)"
  int errno_value = 0;                     // of that; 0: the kernel's io_uring is too old
  std::string why_not_registered{};        // buffers with it, if it is usable
  std::optional<std::int64_t> disabled{};  // kernel.io_uring_disabled: 0, 1 or 2; since Linux 6.6
  bool filtered = false;                   // a seccomp filter looks at our system calls
};
UringFacts uring_facts(const KernelFiles& files = {});

/// A link of PCI Express now, and the best that both its ends can do.
struct PcieLink {
  double gigatransfers = 0, most_gigatransfers = 0;  // a second, of each lane
  std::int64_t lanes = 0, most_lanes = 0;
};

/// Of the device at an address, as "0000:1b:00.0". Nothing where sysfs does not show it.
std::optional<PcieLink> pcie_link(const std::string& address, const KernelFiles& files = {});

/// The NUMA node that it is near, if the machine tells.
std::optional<int> numa_node_of(const std::string& address, const KernelFiles& files = {});

/// Whether memory is nearer to some processors than to others.
bool has_many_numa_nodes(const KernelFiles& files = {});

/// What control groups leave to this process: the least of its own and those around it.
struct GroupLimits {
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> cores{};  // of time, not which
};
GroupLimits group_limits(const KernelFiles& files = {});

/// How many more threads this process can have.
struct ThreadLimit {
  std::uint64_t left = 0;
  std::string_view by;  // what is to be raised for more, as people know it
};

/// The tightest of the limits of control groups, of the user, and of the address space, which a
/// thread takes a stack of. Nothing if there is none.
std::optional<ThreadLimit> thread_limit(const KernelFiles& files = {});

/// "docker", "kubernetes" and so on, as far as there are signs of it; else empty.
std::string container_name(const KernelFiles& files = {});

/// The soft limits, which bind. ooc-run has raised its own on open files as far as it may.
struct ProcessLimits {
  std::optional<std::uint64_t> locked_bytes{};  // empty: unlimited
  std::optional<std::uint64_t> open_files{};
};
ProcessLimits process_limits(const KernelFiles& files = {});

/// Why a run on the GPU of this ordinal would fail; empty if it would not.
std::string why_not_on_gpu(const ooc::CudaFacts& cuda, std::size_t ordinal);

}  // namespace ooc_run
