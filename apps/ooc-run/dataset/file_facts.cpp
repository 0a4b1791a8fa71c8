#include "dataset/file_facts.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/http/address.hpp>
#include <ooc/detail/http/remote_object.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <ooc/error.hpp>
#include <span>

namespace ooc_run {
namespace {

constexpr std::size_t piece_bytes = 64 * ooc::KiB;

/// Reads whole pages, as direct I/O requires.
class PageReader {
 public:
  /// Reads from `offset`, a multiple of a page: up to `most_bytes`, fewer at the end of the file.
  /// The result is valid until the next read. Throws Error(input).
  std::span<const std::byte> read(const ooc::File& file, std::uint64_t offset,
                                  std::size_t most_bytes = piece_bytes) {
    if (file.remote() != nullptr) {
      const std::uint64_t left = file.size() - std::min(offset, file.size());
      const auto memory = std::span(buffer_).first(std::min<std::uint64_t>(most_bytes, left));
      ooc::read_exactly(file, offset, memory);
      return memory;
    }
    auto got = try_read(file.direct(), offset, most_bytes);
    if (!got) got = try_read(file.buffered(), offset, most_bytes);
    if (!got) {
      throw ooc::Error::from_errno(ooc::ErrorKind::input, "read", errno, file.path(), offset);
    }
    return *got;
  }

  /// Reads from one descriptor. Returns nothing and leaves errno if that fails.
  std::optional<std::span<const std::byte>> try_read(int descriptor, std::uint64_t offset,
                                                     std::size_t most_bytes = piece_bytes) {
    const ooc::DiskCall waits;
    const ssize_t got = ooc::repeat_interrupted(
        [&] { return pread(descriptor, buffer_.data(), most_bytes, static_cast<off_t>(offset)); });
    if (got < 0) return {};
    return std::span(buffer_).first(static_cast<std::size_t>(got));
  }

 private:
  alignas(ooc::page_bytes) std::array<std::byte, piece_bytes> buffer_;
};

/// Returns the part of `piece` that consists of whole groups of eight bytes, counted from the
/// beginning of the data. `offset`: of `piece` in the file.
std::span<const std::byte> groups_in(std::span<const std::byte> piece, std::uint64_t offset,
                                     const ooc::Extent& data) {
  constexpr std::uint64_t group = 8;
  const std::uint64_t begin = std::max(offset, data.offset);
  const std::uint64_t first = data.offset + ooc::round_up(begin - data.offset, group);
  const std::uint64_t end = std::min(offset + piece.size(), data.offset + data.bytes);
  if (first >= end) return {};
  return piece.subspan(first - offset, ooc::round_down(end - first, group));
}

FileFacts describe_file(const ooc::File& file, const ooc::Extent& data) {
  FileFacts facts;
  facts.path = file.path();
  facts.bytes = file.size();
  facts.data_offset = data.offset;
  facts.data_bytes = data.bytes;
  facts.page_cache_fraction = ooc::page_cache_fraction(file, data);
  if (file.remote() != nullptr) {
    facts.is_remote = true;
    facts.disk_bytes = file.size();
    facts.extents.why_not = "it is on a server";
    facts.file_system = file.remote()->address().server();
    facts.why_not_direct = file.why_not_direct();
    return facts;
  }
  struct stat status {};
  if (fstat(file.buffered(), &status) != 0) {
    throw ooc::Error::from_errno(ooc::ErrorKind::input, "stat", errno, file.path());
  }
  constexpr std::uint64_t stat_block_bytes = 512;
  facts.disk_bytes = static_cast<std::uint64_t>(status.st_blocks) * stat_block_bytes;
  if (S_ISREG(status.st_mode)) {
    const ooc::DiskCall waits;
    const off_t hole = lseek(file.buffered(), 0, SEEK_HOLE);
    facts.holes = hole >= 0 && static_cast<std::uint64_t>(hole) < file.size();
    facts.extents = extents_of(file.path());
  } else {
    facts.disk_bytes = file.size();
    facts.extents.why_not = "it is a disk, not a file";
  }
  facts.file_system = file_system_of(file.path());
  facts.disk = block_device_of(file.path());
  if (file.direct() < 0) facts.why_not_direct = file.why_not_direct();
  return facts;
}

}  // namespace

std::vector<FileFacts> describe_files(const ooc::Source& source) {
  std::vector<FileFacts> files;
  for (const ooc::Extent& extent : source.extents()) {
    files.push_back(describe_file(source.files()[extent.file], extent));
  }
  return files;
}

std::vector<std::byte> sample_of(const ooc::Source& source) {
  constexpr std::uint64_t most_pieces = 16;
  const std::uint64_t pieces =
      std::clamp<std::uint64_t>(ooc::divide_up(source.bytes(), piece_bytes), 1, most_pieces);
  const std::uint64_t distance = source.bytes() / pieces;
  std::vector<std::byte> sample;
  PageReader reader;
  std::uint64_t next = 0, first = 0;  // offsets in the source: of the next piece, and of the extent
  for (const ooc::Extent& extent : source.extents()) {
    for (; next < first + extent.bytes && sample.size() < pieces * piece_bytes; next += distance) {
      const std::uint64_t offset = ooc::round_down(extent.offset + (next - first), ooc::page_bytes);
      const auto groups =
          groups_in(reader.read(source.files()[extent.file], offset), offset, extent);
      sample.insert(sample.end(), groups.begin(), groups.end());
    }
    first += extent.bytes;
  }
  return sample;
}

std::vector<std::byte> glance(const ooc::Source& source) {
  if (source.extents().empty()) return {};
  const ooc::Extent& data = source.extents().front();
  const ooc::File& file = source.files()[data.file];
  const std::uint64_t offset = ooc::round_down(data.offset, ooc::page_bytes);
  constexpr std::uint64_t most_bytes = 16 * ooc::KiB;  // more takes longer and tells no more
  const ooc::Extent piece{
      .file = data.file, .offset = offset, .bytes = std::min(most_bytes, file.size() - offset)};
  PageReader reader;
  if (file.remote() != nullptr) {
    const auto groups = groups_in(reader.read(file, offset, most_bytes), offset, data);
    return {groups.begin(), groups.end()};
  }
  // Prefer direct I/O: a buffered read would trigger the kernel's read-ahead.
  const bool only_cached = file.direct() < 0 && ooc::page_cache_fraction(file, piece) == 1;
  const auto got =
      reader.try_read(only_cached ? file.buffered() : file.direct(), offset, most_bytes);
  if (!got) return {};
  const auto groups = groups_in(*got, offset, data);
  return {groups.begin(), groups.end()};
}

void require_local(const std::string& path, std::string_view command) {
  if (!ooc::parse_address(path)) return;
  throw ooc::Error(
      ooc::ErrorKind::usage,
      fmt::format("{}: is on a server, and {} measures disks", ooc::shown_address(path), command),
      {.path = ooc::shown_address(path), .hint = "info shows how it would be read"});
}

std::vector<std::byte> head_of(const ooc::File& file) {
  PageReader reader;
  const auto head = reader.read(file, 0, ooc::page_bytes);
  return {head.begin(), head.end()};
}

}  // namespace ooc_run
