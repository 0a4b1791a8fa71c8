#include "machine/block_device.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

class BlockDeviceTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = sysfs_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void link(const std::string& name, const std::string& target) {
    const std::filesystem::path path = sysfs_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_directory_symlink(sysfs_.path() / target, path);
  }

  ooc::detail::test::TempDir sysfs_;
};

TEST_F(BlockDeviceTest, DescribesTheDiskOfAPartition) {
  const std::string disk = "devices/pci0000:80/0000:81:00.0/nvme/nvme0/nvme0n1";
  write(disk + "/queue/rotational", "0");
  write(disk + "/queue/logical_block_size", "4096");
  write(disk + "/device/model", "Some Disk  ");
  write(disk + "/nvme0n1p2/partition", "2");
  write("devices/pci0000:80/0000:81:00.0/numa_node", "1");
  link("dev/block/259:2", disk + "/nvme0n1p2");
  const auto device = block_device("259:2", sysfs_.path());
  ASSERT_TRUE(device);
  EXPECT_EQ(device->numa_node, 1);
  EXPECT_EQ(describe(*device), "nvme0n1, SSD, Some Disk, blocks of 4096 bytes");
}

TEST_F(BlockDeviceTest, DescribesWhatIsKnown) {
  write("devices/virtual/block/loop0/queue/rotational", "1");
  write("devices/virtual/numa_node", "-1");
  link("dev/block/7:0", "devices/virtual/block/loop0");
  const auto device = block_device("7:0", sysfs_.path());
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->numa_node);
  EXPECT_EQ(describe(*device), "loop0");
}

TEST_F(BlockDeviceTest, SaysThatADiskRotatesIfItIsOne) {
  EXPECT_EQ(describe({.name = "sda", .model = "Some Disk", .rotational = true}),
            "sda, rotating disk, Some Disk");
  EXPECT_EQ(describe({.name = "vda", .model = "", .rotational = true}), "vda");
  EXPECT_EQ(describe({.name = "vda", .model = "", .rotational = false}), "vda, SSD");
}

TEST_F(BlockDeviceTest, KnowsWhatIsNoDisk) {
  EXPECT_FALSE(block_device("0:42", sysfs_.path()));
  EXPECT_FALSE(block_device_of("/proc/self/stat"));
  EXPECT_FALSE(block_device_of("/nowhere/at/all"));
}

}  // namespace
}  // namespace ooc_run
