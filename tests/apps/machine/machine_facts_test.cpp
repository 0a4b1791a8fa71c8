#include "machine/machine_facts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "machine/proc_files.hpp"
#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

/// Temporary directories in place of /proc and /sys, to which a test writes the files it needs.
class MachineFactsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  ooc::detail::test::TempDir root_;
  KernelFiles files_{root_.path() / "proc", root_.path() / "sys"};
};

TEST_F(MachineFactsTest, ReadsSmallFiles) {
  write("text", "  words and more \r\nsecond\n");
  write("number", "-12\n");
  write("status", "Seccomp_filters:\t1\nSeccomp:\t2\nempty:\n");
  EXPECT_EQ(first_line(root_.path() / "text"), "words and more");
  EXPECT_EQ(first_line(root_.path() / "none"), "");
  EXPECT_EQ(number_in(root_.path() / "number"), -12);
  EXPECT_FALSE(number_in(root_.path() / "text"));
  EXPECT_FALSE(number_in(root_.path() / "none"));
  EXPECT_EQ(value_of(root_.path() / "status", "Seccomp"), "2");
  EXPECT_EQ(value_of(root_.path() / "status", "Sec"), "");
  EXPECT_EQ(value_of(root_.path() / "status", "empty"), "");
}

TEST_F(MachineFactsTest, ReadsALink) {
  const std::string device = "sys/bus/pci/devices/0000:1b:00.0/";
  write(device + "current_link_speed", "16.0 GT/s PCIe\n");
  write(device + "current_link_width", "8\n");
  write(device + "max_link_speed", "32.0 GT/s PCIe\n");
  write(device + "max_link_width", "16\n");
  write(device + "numa_node", "1\n");
  const auto link = pcie_link("0000:1b:00.0", files_);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->gigatransfers, 16);
  EXPECT_EQ(link->most_gigatransfers, 32);
  EXPECT_EQ(link->lanes, 8);
  EXPECT_EQ(link->most_lanes, 16);
  EXPECT_EQ(numa_node_of("0000:1b:00.0", files_), 1);
  EXPECT_FALSE(pcie_link("0000:2b:00.0", files_));
  EXPECT_FALSE(pcie_link("", files_));
  EXPECT_FALSE(numa_node_of("", files_));
}

TEST_F(MachineFactsTest, KnowsMachinesWithOneNode) {
  EXPECT_FALSE(has_many_numa_nodes(files_));
  write("sys/devices/system/node/online", "0\n");
  EXPECT_FALSE(has_many_numa_nodes(files_));
  write("sys/devices/system/node/online", "0-1\n");
  EXPECT_TRUE(has_many_numa_nodes(files_));
}

TEST_F(MachineFactsTest, FindsTheLeastLimitOfNestedGroups) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", "1000000\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/outer/pids.max", "max\n");
  write("sys/fs/cgroup/outer/inner/pids.max", "100\n");
  write("sys/fs/cgroup/outer/inner/pids.current", "40\n");
  const GroupLimits limits = group_limits(files_);
  EXPECT_EQ(limits.memory_bytes, 1'000'000u);
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(thread_limit(files_)->left, 60u);
}

TEST_F(MachineFactsTest, KnowsGroupsOfVersionOne) {
  write("proc/self/cgroup", "7:memory:/box\n5:cpu,cpuacct:/box\n4:pids:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "67108864\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/pids/pids.max", "10\n");
  write("sys/fs/cgroup/pids/pids.current", "12\n");
  const GroupLimits limits = group_limits(files_);
  EXPECT_EQ(limits.memory_bytes, 67'108'864u);
  EXPECT_FALSE(limits.cores);
  EXPECT_EQ(thread_limit(files_)->left, 0u);
}

TEST_F(MachineFactsTest, UsersHaveALimitOnThreads) {
  const auto process = [&](const std::string& number, const std::string& user,
                           const std::string& rights, int threads) {
    write("proc/" + number + "/status", "Uid:\t" + user + "\t0\t0\t0\nThreads:\t" +
                                            std::to_string(threads) + "\nCapEff:\t" + rights +
                                            "\n");
  };
  const std::string none = "0000000000000000";
  write("proc/self/limits", "Max processes             100                 200       processes\n");
  process("1", "0", "000001ffffffffff", 50);
  process("12", "1000", none, 7);
  process("13", "1000", none, 3);
  process("self", "1000", none, 7);  // /proc/self is process 12
  ASSERT_TRUE(thread_limit(files_));
  EXPECT_EQ(thread_limit(files_)->left, 90u);
  EXPECT_EQ(thread_limit(files_)->by, "ulimit -u");
  process("13", "1000", none, 300);
  EXPECT_EQ(thread_limit(files_)->left, 0u);
  process("self", "1000", "0000000001000000", 7);  // CAP_SYS_RESOURCE lifts the limit
  EXPECT_FALSE(thread_limit(files_));
  process("self", "0", none, 7);
  EXPECT_FALSE(thread_limit(files_));
}

TEST_F(MachineFactsTest, ThreadsTakeStacksOfTheAddressSpace) {
  write("proc/self/limits",
        "Max stack size            8388608              unlimited            bytes     \n"
        "Max address space         104857600            unlimited            bytes     \n");
  write("proc/self/status", "VmSize:\t   20480 kB\n");
  ASSERT_TRUE(thread_limit(files_));
  EXPECT_EQ(thread_limit(files_)->left, 10u);
  EXPECT_EQ(thread_limit(files_)->by, "ulimit -v");
  write("proc/self/cgroup", "4:pids:/\n");  // a tighter limit wins
  write("sys/fs/cgroup/pids/pids.max", "10\n");
  write("sys/fs/cgroup/pids/pids.current", "4\n");
  EXPECT_EQ(thread_limit(files_)->left, 6u);
  EXPECT_EQ(thread_limit(files_)->by, "pids.max of its control group");
}

TEST_F(MachineFactsTest, SoftLimitsBind) {
  EXPECT_FALSE(process_limits(files_).locked_bytes);
  write("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max open files            20000                unlimited            files     \n"
        "Max locked memory         65536                8388608              bytes     \n");
  EXPECT_EQ(process_limits(files_).locked_bytes, 65536u);
  EXPECT_EQ(process_limits(files_).open_files, 20000u);
  write("proc/self/limits", "Max locked memory         unlimited            unlimited   bytes\n");
  EXPECT_FALSE(process_limits(files_).locked_bytes);
}

TEST_F(MachineFactsTest, NeedsNoGroups) {
  const GroupLimits limits = group_limits(files_);
  EXPECT_FALSE(limits.memory_bytes || limits.cores || thread_limit(files_));
  EXPECT_EQ(container_name(files_), "");
  write("proc/1/cgroup", "0::/kubepods/pod1\n");
  EXPECT_EQ(container_name(files_), "kubernetes");
}

TEST_F(MachineFactsTest, AContainerHasItsRootFromIt) {
  const std::string root = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
  write("proc/self/mountinfo",
        root + "60 27 0:50 / /var/lib/docker/overlay2/1/merged rw - overlay overlay rw\n");
  EXPECT_EQ(container_name(files_), "");
  std::string many;
  for (int i = 0; i < 200; ++i) many += "30 27 0:9 / /sys/" + std::to_string(i) + " rw - x x rw\n";
  write("proc/self/mountinfo",
        many + "27 1 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/1\n");
  EXPECT_EQ(container_name(files_), "docker");
}

TEST_F(MachineFactsTest, SaysWhatMayForbidIoUring) {
  write("proc/sys/kernel/io_uring_disabled", "2\n");
  write("proc/self/status", "Seccomp:\t2\n");
  const UringFacts facts = uring_facts(files_);
  EXPECT_EQ(facts.disabled, 2);
  EXPECT_TRUE(facts.filtered);
  EXPECT_EQ(facts.usable, facts.why_not.empty());
}

}  // namespace
}  // namespace ooc_run
