#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/detail/file/file.hpp>
#include <ooc/source.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/block_device.hpp"
#include "machine/environment.hpp"

namespace ooc_run {

/// Properties of a file of a dataset and of its storage, found without reading its data.
struct FileFacts {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint64_t data_offset = 0;              // where the elements begin
  std::uint64_t data_bytes = 0;               // of elements
  std::optional<double> page_cache_fraction;  // of `data_bytes`
  std::uint64_t disk_bytes = 0;               // allocated on the disk
  bool holes = false;                         // true if parts were never written (sparse)
  Extents extents;
  bool is_remote = false;  // on a server, whose disks are unknown
  std::string file_system;
  std::optional<BlockDevice> disk;
  std::string why_not_direct;  // empty: direct I/O is possible

  /// True if a direct read can begin at the first element.
  bool is_aligned() const { return data_offset % ooc::detail::File::alignment() == 0; }
};

/// Describes each file of a source, in order. Throws Error(input).
std::vector<FileFacts> describe_files(const ooc::Source& source);

/// Throws Error(usage) for an address on a server: `command` measures disks.
void require_local(const std::string& path, std::string_view command);

}  // namespace ooc_run
