#pragma once

#include <string>

namespace ooc::detail {

/// Returns the NUMA node of a PCI device, given its address as in sysfs, "0000:3b:00.0". Returns -1
/// if the kernel names none, as on most machines with one node. `sys`: where sysfs is mounted.
int numa_node_of_pci(const std::string& address, const std::string& sys = "/sys");

/// Lets the calling thread, and threads that it starts from now on, run on the cores of a NUMA
/// node, and take memory there as far as there is some. Returns false, and changes nothing, if
/// there is no such node, or if the thread may not use any of its cores.
///
/// Leaves a thread alone whose memory the user has placed, as with numactl.
bool bind_to_numa_node(int node, const std::string& sys = "/sys");

}  // namespace ooc::detail
