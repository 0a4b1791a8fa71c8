#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

/// The disk that holds a file, as sysfs describes it.
struct BlockDevice {
  std::string name;   // "nvme0n1"; the whole disk if the file is on a partition
  std::string model;  // empty if it has none
  bool rotational = false;
  std::uint64_t block_bytes = 0;  // logical block size: the smallest unit of a read
  std::optional<int> numa_node{};
};

/// Returns, for example, "nvme0n1, SSD, Samsung 990 PRO, blocks of 512 bytes".
std::string describe(const BlockDevice& device);

/// Returns the disk that holds `file`. Empty for file systems that are not on one block device
/// (tmpfs, overlay, NFS, btrfs), or if sysfs does not show the disk.
std::optional<BlockDevice> block_device_of(const std::filesystem::path& file,
                                           const std::filesystem::path& sysfs = "/sys");

/// Returns the disk of the device with this number, for example "259:0". Empty as above.
std::optional<BlockDevice> block_device(const std::string& number,
                                        const std::filesystem::path& sysfs = "/sys");

}  // namespace ooc_run
