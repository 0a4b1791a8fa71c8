#pragma once

#include <cstdint>
#include <filesystem>
#include <ooc/io/source.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/block_device.hpp"
#include "machine/environment.hpp"

namespace ooc_run {

/// Where and how a file of a dataset lies. Nothing of its data was read for it.
struct FileFacts {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint64_t data_offset = 0;              // where the elements begin
  std::uint64_t data_bytes = 0;               // of elements
  std::optional<double> page_cache_fraction;  // of these, that lie in the page cache
  std::uint64_t disk_bytes = 0;               // that it takes on its disk
  bool holes = false;                         // parts that were never written, and read as zeros
  Extents extents;
  std::string file_system;
  std::optional<BlockDevice> disk;
  std::string why_not_direct;  // empty: it can be read past the page cache

  /// Whether direct reads begin where the data do, and fetch nothing before them.
  bool is_aligned() const { return data_offset % ooc::File::alignment() == 0; }
};

/// One for each file, in their order.
std::vector<FileFacts> describe_files(const ooc::Source& source);

/// Up to 16 pieces of 64 KiB from all over the data of a source, past the page cache where that is
/// possible, so that it stays as it is. Each piece begins a multiple of 8 bytes from the first
/// element, and has a multiple of 8. Throws Error(input).
std::vector<std::byte> sample_of(const ooc::Source& source);

/// The first 16 KiB of a source's data, or what there is of them, where they can be read past the
/// page cache or lie in it: that does not take long, and the page cache stays as it is. Else
/// nothing.
std::vector<std::byte> glance(const ooc::Source& source);

/// The first bytes of a file, at most a page, past the page cache where that is possible. Throws
/// Error(input).
std::vector<std::byte> head_of(const ooc::File& file);

}  // namespace ooc_run
