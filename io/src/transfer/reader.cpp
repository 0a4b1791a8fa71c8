#include <ooc/detail/base/units.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <utility>

namespace ooc::detail {

namespace {

std::vector<const File*> pointers_to(std::span<const File> files) {
  std::vector<const File*> pointers;
  for (const File& file : files) pointers.push_back(&file);
  return pointers;
}

}  // namespace

Reader::Reader(std::span<const File> files, const Plan& plan, ChunkPool& pool,
               std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct)
    : Reader(pointers_to(files), plan, pool, std::move(engine), block_bytes, direct) {}

Reader::Reader(std::vector<const File*> files, const Plan& plan, ChunkPool& pool,
               std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct)
    : Transfer(plan, pool, std::move(engine), block_bytes),
      files_(std::move(files)),
      direct_(direct) {}

std::size_t Reader::slack_bytes(std::size_t max_extents, bool direct) {
  // Each extent begins on a page of the slot. A direct read also fetches the first part of its
  // first block. The rest of its last block is no extra memory: it ends where the next page begins.
  return max_extents * (direct ? 2 : 1) * page_bytes;
}

bool Reader::reads_directly(const Extent& extent) const {
  return direct_ && !extent.cached && files_[extent.file]->direct() >= 0;
}

/// Returns the blocks that the extent touches if it is read directly, else the extent itself.
Transfer::ByteRange Reader::range_of(const Extent& extent) const {
  const std::uint64_t end = extent.offset + extent.bytes;
  if (!reads_directly(extent)) return {extent.offset, end};
  return {round_down(extent.offset, File::alignment()), round_up(end, File::alignment())};
}

std::uint64_t Reader::end_of_request(const Extent& extent, std::uint64_t offset) const {
  return std::min(offset + block_bytes(), range_of(extent).end);
}

/// Places the extents in the slot one after another, each from the beginning of a page.
void Reader::lay_out(Chunk& chunk, std::span<const Extent> extents) {
  std::size_t place = 0;
  for (const Extent& extent : extents) {
    const ByteRange range = range_of(extent);
    const std::uint64_t bytes = range.end - range.begin;
    if (place + bytes > chunk.memory.size()) {
      throw Error(ErrorKind::internal, "a chunk is larger than its slot");
    }
    chunk.segments.push_back(
        chunk.memory.subspan(place + (extent.offset - range.begin), extent.bytes));
    place += round_up(bytes, page_bytes);
  }
}

void Reader::prepare(Part& part, const Extent& extent) const {
  part.source = files_[extent.file];
  part.direct = reads_directly(extent);
}

}  // namespace ooc::detail
