#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ooc_run {

/// "build-7, AMD EPYC 9654 96-Core Processor, 16 cores": what tells machines apart that share a
/// home directory. Cores are those that this process may use.
std::string machine_name();

/// "AMD EPYC 9654 96-Core Processor".
std::string processor_name();

/// "ext4 /dev/vda": the type of the file system that a file lies on, and what is mounted there; or
/// "block device 259:0", if it is one. Empty if there is no such file.
std::string file_system_of(const std::filesystem::path& path);

/// Whether the file, or what will be in the directory, lies in memory and nowhere else (tmpfs,
/// ramfs).
bool is_tmpfs(const std::filesystem::path& path);

/// Pieces that the file has on its disk, or why the file system does not tell.
struct Extents {
  std::optional<std::uint64_t> count;
  std::string why_not;
};
Extents extents_of(const std::filesystem::path& path);

/// "6.18.4": the kernel's release.
std::string kernel_release();

/// "always", "madvise" or "never": when memory comes in huge pages. Empty if the kernel has none.
std::string huge_pages();

/// Bytes of this machine's memory.
std::uint64_t memory_bytes();

/// What the NVIDIA driver calls itself; empty if there is none.
std::string gpu_driver();

/// The words of this process, quoted so that a shell takes them for the same.
std::string command_line();

/// "2026-01-31", in UTC.
std::string today();

/// "2026-01-31 23:59 UTC".
std::string now();

}  // namespace ooc_run
