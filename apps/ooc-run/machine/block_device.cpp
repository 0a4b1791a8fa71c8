#include "machine/block_device.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <ooc/detail/base/text_file.hpp>
#include <system_error>

#include "machine/proc_files.hpp"

namespace ooc_run {

std::string describe(const BlockDevice& device) {
  std::string text = device.name;
  // Virtual disks have no model, and the kernel may report them as rotational whatever backs them.
  if (!device.rotational || !device.model.empty()) {
    text += device.rotational ? ", rotating disk" : ", SSD";
  }
  if (!device.model.empty()) text += ", " + device.model;
  if (device.block_bytes != 0) text += fmt::format(", blocks of {} bytes", device.block_bytes);
  return text;
}

std::optional<BlockDevice> block_device(const std::string& number,
                                        const std::filesystem::path& sysfs) {
  std::error_code failed;
  std::filesystem::path directory =
      std::filesystem::canonical(sysfs / "dev/block" / number, failed);
  if (failed) return {};
  if (std::filesystem::exists(directory / "partition", failed)) directory = directory.parent_path();
  BlockDevice device;
  device.name = directory.filename();
  device.model = first_line(directory / "device/model");
  device.rotational = first_line(directory / "queue/rotational") == "1";
  device.block_bytes =
      static_cast<std::uint64_t>(number_in(directory / "queue/logical_block_size").value_or(0));
  // The NUMA node belongs to the controller, which is an ancestor of the disk in sysfs.
  for (std::filesystem::path above = directory; above != above.root_path();
       above = above.parent_path()) {
    const auto node = number_in(above / "numa_node");
    if (!node) continue;
    if (*node >= 0) device.numa_node = static_cast<int>(*node);
    break;
  }
  return device;
}

std::optional<BlockDevice> block_device_of(const std::filesystem::path& file,
                                           const std::filesystem::path& sysfs) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return {};
  const dev_t number = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
  return block_device(fmt::format("{}:{}", major(number), minor(number)), sysfs);
}

}  // namespace ooc_run
