#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

/// The disk that holds a file, as sysfs describes it.
struct BlockDevice {
  std::string name;   // "nvme0n1": of a partition, its disk's
  std::string model;  // empty if it has none
  bool rotational = false;
  std::uint64_t block_bytes = 0;  // the least that it reads
  std::optional<int> numa_node{};
};

/// "nvme0n1, SSD, Samsung 990 PRO, blocks of 512 bytes".
std::string describe(const BlockDevice& device);

/// Nothing for file systems without a disk of their own (tmpfs, overlay, NFS, btrfs), or where
/// sysfs does not show it.
std::optional<BlockDevice> block_device_of(const std::filesystem::path& file,
                                           const std::filesystem::path& sysfs = "/sys");

/// The same of the device with this number, as "259:0".
std::optional<BlockDevice> block_device(const std::string& number,
                                        const std::filesystem::path& sysfs = "/sys");

}  // namespace ooc_run
