#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

/// Returns, for example, "build-7, AMD EPYC 9654 96-Core Processor, 16 cores". It distinguishes
/// machines that share a home directory. Only the cores that this process may use are counted.
std::string machine_name();

/// Returns, for example, "AMD EPYC 9654 96-Core Processor".
std::string processor_name();

/// Returns the type of the file system that holds the file, and the source of the mount: "ext4
/// /dev/vda". Returns "block device 259:0" for a block device. Empty if there is no such file.
std::string file_system_of(const std::filesystem::path& path);

/// True if the file or directory is in a file system that keeps its data in memory (tmpfs, ramfs).
bool is_tmpfs(const std::filesystem::path& path);

/// Number of extents that a file has on its disk, or the reason why it is unknown.
struct Extents {
  std::optional<std::uint64_t> count;
  std::string why_not;
};
Extents extents_of(const std::filesystem::path& path);

/// Returns the release of the kernel, for example "6.18.4".
std::string kernel_release();

/// Returns the mode of transparent huge pages: "always", "madvise" or "never". Empty if the kernel
/// does not support them.
std::string huge_pages();

/// Returns the size of this machine's memory in bytes.
std::uint64_t memory_bytes();

/// Returns the version line of the NVIDIA driver; empty if there is none.
std::string gpu_driver();

/// Returns the command line of this process, quoted for a shell. Addresses are shown without
/// signatures.
std::string command_line();

/// Returns the date in UTC: "2026-01-31".
std::string today();

/// Returns the date and the time: "2026-01-31 23:59 UTC".
std::string now();

}  // namespace ooc_run
