#pragma once

#include <string>

namespace ooc::detail {

/// Returns the NUMA node of a PCI device, given its address as in sysfs, "0000:3b:00.0". Returns -1
/// if the kernel names none, as on most machines with one node. `sys`: where sysfs is mounted.
int numa_node_of_pci(const std::string& address, const std::string& sys = "/sys");

/// Lets the calling thread, and threads that it starts from now on, run on the cores of a NUMA
/// node, and allocate memory there while it lasts. Returns false, and changes nothing, if there is
/// no such node, or if the thread may not use any of its cores.
///
/// Does nothing for a thread whose memory policy the user has set, as with numactl.
bool bind_to_numa_node(int node, const std::string& sys = "/sys");

}  // namespace ooc::detail
