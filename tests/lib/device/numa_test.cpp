#include <ooc/detail/device/numa.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// A directory like /sys.
class Numa : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = dir_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string sys() const { return dir_.path().string(); }

  /// Binds a thread, and returns the number of cores that it may use then; 0 if it was not bound.
  int cores_on(int node) const {
    int cores = 0;
    std::jthread([&] {
      if (!bind_to_numa_node(node, sys())) return;
      cpu_set_t set;
      ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
      cores = CPU_COUNT(&set);
    }).join();
    return cores;
  }

  test::TempDir dir_;
};

/// The first core that this thread may use.
int first_core() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  int core = 0;
  while (!CPU_ISSET(static_cast<unsigned>(core), &set)) ++core;
  return core;
}

TEST_F(Numa, ADeviceHasANode) {
  write("bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  write("bus/pci/devices/0000:3c:00.0/numa_node", "-1\n");
  EXPECT_EQ(numa_node_of_pci("0000:3b:00.0", sys()), 1);
  EXPECT_EQ(numa_node_of_pci("0000:3c:00.0", sys()), -1);
  EXPECT_EQ(numa_node_of_pci("0000:3d:00.0", sys()), -1);
  EXPECT_EQ(numa_node_of_pci("", sys()), -1);
}

TEST_F(Numa, AThreadRunsOnTheCoresOfItsNode) {
  const std::string core = std::to_string(first_core());
  write("devices/system/node/node0/cpulist", core + "\n");
  write("devices/system/node/node1/cpulist", core + "-" + core + ",1020-1023\n");
  write("devices/system/node/node2/cpulist", "1022-1023\n");
  write("devices/system/node/node3/cpulist", "\n");
  EXPECT_EQ(cores_on(0), 1);
  EXPECT_EQ(cores_on(1), 1);
  EXPECT_EQ(cores_on(2), 0);  // none that it may use
  EXPECT_EQ(cores_on(3), 0);
  EXPECT_EQ(cores_on(4), 0);
  EXPECT_EQ(cores_on(-1), 0);
  EXPECT_EQ(cores_on(64), 0);
}

}  // namespace
}  // namespace ooc::detail
