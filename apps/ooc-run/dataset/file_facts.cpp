#include "dataset/file_facts.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/http/address.hpp>
#include <ooc/detail/http/remote_object.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <ooc/error.hpp>

namespace ooc_run {
namespace {

FileFacts describe_file(const ooc::detail::File& file, const ooc::detail::Extent& data) {
  FileFacts facts;
  facts.path = file.path();
  facts.bytes = file.size();
  facts.data_offset = data.offset;
  facts.data_bytes = data.bytes;
  facts.page_cache_fraction = ooc::detail::page_cache_fraction(file, data);
  if (file.remote() != nullptr) {
    facts.is_remote = true;
    facts.disk_bytes = file.size();
    facts.extents.why_not = "it is on a server";
    facts.file_system = file.remote()->address().server();
    facts.why_not_direct = file.why_not_direct();
    return facts;
  }
  facts.file_system = file_system_of(file.path());
  facts.disk = block_device_of(file.path());
  if (const ooc::detail::EncodedArray* const array = file.encoded()) {
    for (const ooc::detail::File& stored : array->files()) facts.disk_bytes += stored.size();
    facts.extents.why_not = facts.why_not_direct = file.why_not_direct();
    return facts;
  }
  const ooc::detail::DiskCall waits;
  struct stat status {};
  if (fstat(file.buffered(), &status) != 0) {
    throw ooc::Error::from_errno(ooc::ErrorKind::input, "stat", errno, file.path());
  }
  constexpr std::uint64_t stat_block_bytes = 512;
  facts.disk_bytes = static_cast<std::uint64_t>(status.st_blocks) * stat_block_bytes;
  if (S_ISREG(status.st_mode)) {
    const off_t hole = lseek(file.buffered(), 0, SEEK_HOLE);
    facts.holes = hole >= 0 && static_cast<std::uint64_t>(hole) < file.size();
    facts.extents = extents_of(file.path());
  } else {
    facts.disk_bytes = file.size();
    facts.extents.why_not = "it is a disk, not a file";
  }
  if (file.direct() < 0) facts.why_not_direct = file.why_not_direct();
  return facts;
}

}  // namespace

std::vector<FileFacts> describe_files(const ooc::Source& source) {
  const auto files = ooc::detail::files_of(source);
  std::vector<ooc::detail::Extent> data;  // of each file: its first place, all bytes
  for (const ooc::detail::File& file : files) data.push_back({0, file.size(), 0});
  for (const ooc::detail::Extent& extent : ooc::detail::storage_of(source)) {
    ooc::detail::Extent& all = data[extent.file];
    if (all.bytes == 0) all.offset = extent.offset;
    all.bytes += extent.bytes;
  }
  std::vector<FileFacts> facts;
  for (std::size_t i = 0; i < files.size(); ++i) facts.push_back(describe_file(files[i], data[i]));
  return facts;
}

void require_local(const std::string& path, std::string_view command) {
  if (!ooc::detail::parse_address(path)) return;
  throw ooc::Error(
      ooc::ErrorKind::usage,
      fmt::format("{}: is on a server, and {} measures disks", ooc::detail::shown_address(path),
                  command),
      {.path = ooc::detail::shown_address(path), .hint = "info shows how it would be read"});
}

}  // namespace ooc_run
