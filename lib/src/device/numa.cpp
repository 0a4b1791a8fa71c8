#include <ooc/detail/device/numa.hpp>

#include <ooc/detail/base/text_file.hpp>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>
#include <sstream>

namespace ooc::detail {

namespace {

/// Returns the cores of a list such as "0-3,8".
cpu_set_t cores_of(const std::string& list) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::istringstream text(list);
  for (int first = 0; text >> first;) {
    int last = first;
    if (text.peek() == '-') text.ignore() >> last;
    for (int core = first; core <= last && core < CPU_SETSIZE; ++core) CPU_SET(core, &cores);
    if (text.peek() != ',') break;
    text.ignore();
  }
  return cores;
}

}  // namespace

int numa_node_of_pci(const std::string& address, const std::string& sys) {
  int node = -1;
  std::istringstream(read_text(sys + "/bus/pci/devices/" + address + "/numa_node")) >> node;
  return node;
}

bool bind_to_numa_node(int node, const std::string& sys) {
  constexpr int most_nodes = std::numeric_limits<unsigned long>::digits;
  if (node < 0 || node >= most_nodes) return false;
  cpu_set_t cores =
      cores_of(read_text(sys + "/devices/system/node/node" + std::to_string(node) + "/cpulist"));
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return false;
  int policy = MPOL_DEFAULT;
  if (::syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0 &&
      policy != MPOL_DEFAULT) {
    return false;
  }
  CPU_AND(&cores, &cores, &allowed);
  if (CPU_COUNT(&cores) == 0 || sched_setaffinity(0, sizeof(cores), &cores) != 0) return false;
  // Where the kernel refuses this, memory comes from the node of the core that touches it first.
  const unsigned long mask = 1ul << static_cast<unsigned>(node);
  ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, &mask, most_nodes + 1);
  return true;
}

}  // namespace ooc::detail
