#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/page_reader.hpp>

#include <algorithm>
#include <span>

namespace ooc::detail {
namespace {

/// Returns the part of `piece` that consists of whole groups of eight bytes, counted from the
/// beginning of the data. `offset`: of `piece` in the file.
std::span<const std::byte> groups_in(std::span<const std::byte> piece, std::uint64_t offset,
                                     const Extent& data) {
  constexpr std::uint64_t group = 8;
  const std::uint64_t begin = std::max(offset, data.offset);
  const std::uint64_t first = data.offset + round_up(begin - data.offset, group);
  const std::uint64_t end = std::min(offset + piece.size(), data.offset + data.bytes);
  if (first >= end) return {};
  return piece.subspan(first - offset, round_down(end - first, group));
}

}  // namespace

std::vector<std::byte> sample_of(const Source& source) {
  constexpr std::uint64_t most_pieces = 16;
  constexpr std::size_t piece_bytes = PageReader::piece_bytes;
  const std::uint64_t pieces =
      std::clamp<std::uint64_t>(divide_up(source.bytes(), piece_bytes), 1, most_pieces);
  const std::uint64_t distance = source.bytes() / pieces;
  std::vector<std::byte> sample;
  PageReader reader;
  for (std::uint64_t next = 0; next < source.bytes() && sample.size() < pieces * piece_bytes;
       next += distance) {
    const StorageMap& storage = storage_of(source);
    const std::size_t index = storage.index_of(next);
    const Extent extent = storage[index];
    const std::uint64_t offset =
        round_down(extent.offset + extent.bytes - (storage.end_of(index) - next), page_bytes);
    const auto groups =
        groups_in(reader.read(files_of(source)[extent.file], offset), offset, extent);
    sample.insert(sample.end(), groups.begin(), groups.end());
  }
  return sample;
}

std::vector<std::byte> start_of(const File& file, const Extent& data) {
  const std::uint64_t offset = round_down(data.offset, page_bytes);
  PageReader reader;
  const auto groups = groups_in(reader.read(file, offset, glance_bytes), offset, data);
  return {groups.begin(), groups.end()};
}

std::vector<std::byte> glance(const Source& source) {
  if (storage_of(source).empty()) return {};
  const Extent data = storage_of(source).front();
  const File& file = files_of(source)[data.file];
  if (file.encoded() != nullptr) return {};  // to decode a piece takes long
  const std::uint64_t offset = round_down(data.offset, page_bytes);
  const std::span<const std::byte> beginning = SourceAccess::beginning(source);
  if (data.file == 0 && offset == 0 && !beginning.empty()) {
    const auto groups =
        groups_in(beginning.first(std::min(glance_bytes, beginning.size())), 0, data);
    return {groups.begin(), groups.end()};
  }
  const Extent piece{.file = 0,
                     .offset = offset,
                     .bytes = std::min<std::uint64_t>(glance_bytes, file.size() - offset)};
  // A buffered read of other bytes would trigger the kernel's read-ahead.
  const bool is_fast =
      file.remote() != nullptr || file.direct() >= 0 || page_cache_fraction(file, piece) == 1;
  return is_fast ? start_of(file, data) : std::vector<std::byte>();
}

}  // namespace ooc::detail
