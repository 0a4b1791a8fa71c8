#include <ooc/detail/device/control_groups.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

class ControlGroupsTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = dir_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::vector<std::string> directories(std::string_view controller) {
    std::vector<std::string> all;
    for (const ControlGroup& group : groups_that_limit(controller, proc_, sys_)) {
      all.push_back(group.directory.substr(sys_.size()) + (group.is_version_2 ? " 2" : " 1"));
    }
    return all;
  }

  test::TempDir dir_;
  std::string proc_ = dir_.path() / "proc", sys_ = dir_.path() / "sys";
};

TEST_F(ControlGroupsTest, AreTheOwnAndThoseAroundIt) {
  using All = std::vector<std::string>;
  EXPECT_EQ(directories("cpu"), All{});  // no control groups at all
  write("proc/self/cgroup", "0::/outer/inner\n");
  EXPECT_EQ(directories("cpu"),
            (All{"/fs/cgroup/outer/inner 2", "/fs/cgroup/outer 2", "/fs/cgroup 2"}));
  write("proc/self/cgroup", "7:memory:/box\n5:cpu,cpuacct:/\nnonsense\n");
  EXPECT_EQ(directories("memory"), (All{"/fs/cgroup/memory/box 1", "/fs/cgroup/memory 1"}));
  EXPECT_EQ(directories("cpu"), (All{"/fs/cgroup/cpu/ 1", "/fs/cgroup/cpu 1"}));
  EXPECT_EQ(directories("cpuset"), All{});
}

TEST_F(ControlGroupsTest, LeaveTheTimeOfTheLeastOfThem) {
  EXPECT_FALSE(cores_of_time(proc_, sys_));
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_FALSE(cores_of_time(proc_, sys_));
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores_of_time(proc_, sys_), 1.5);
  write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores_of_time(proc_, sys_), 0.5);
  write("proc/self/cgroup", "5:cpu,cpuacct:/box\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(cores_of_time(proc_, sys_));
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cores_of_time(proc_, sys_), 3);
}

}  // namespace
}  // namespace ooc::detail
