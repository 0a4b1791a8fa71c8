#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
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
      direct_(direct) {
  in_file_order_.reserve(plan.max_extents());
}

std::size_t Reader::slack_bytes(std::size_t max_runs, bool direct) {
  // Each run begins on a page of the slot. A direct read also fetches the first part of its first
  // block. The rest of its last block is no extra memory: it ends where the next page begins.
  return max_runs * (direct ? 2 : 1) * page_bytes;
}

bool Reader::reads_directly(const Extent& extent) const {
  return direct_ && !extent.cached && files_[extent.file]->direct() >= 0;
}

/// Places the extents in the slot in the order of their files. Neighbours are one run, in whatever
/// order the chunk has them. A run begins at the beginning of a page, and has the blocks that it
/// touches if it is read directly.
void Reader::lay_out(Chunk& chunk, std::span<const Extent> extents, std::vector<Run>& runs) {
  in_file_order_.resize(extents.size());
  std::iota(in_file_order_.begin(), in_file_order_.end(), std::size_t{0});
  std::ranges::sort(in_file_order_, {}, [&](std::size_t i) {
    return std::tuple(extents[i].file, extents[i].offset, extents[i].bytes);
  });
  chunk.segments.resize(extents.size());
  std::size_t place = 0;  // of the current run
  for (const std::size_t i : in_file_order_) {
    const Extent& extent = extents[i];
    const bool direct = reads_directly(extent);
    const bool joins = !runs.empty() && runs.back().file == extent.file &&
                       runs.back().direct == direct && runs.back().payload_end == extent.offset;
    if (!joins) {
      if (!runs.empty()) place += round_up(runs.back().end - runs.back().begin, page_bytes);
      runs.push_back(
          {.file = extent.file,
           .direct = direct,
           .begin = direct ? round_down(extent.offset, File::alignment()) : extent.offset,
           .end = 0,
           .payload_begin = extent.offset,
           .payload_end = 0,
           .memory = chunk.memory.data() + place});
    }
    Run& run = runs.back();
    run.payload_end = extent.offset + extent.bytes;
    run.end = direct ? round_up(run.payload_end, File::alignment()) : run.payload_end;
    if (place + (run.end - run.begin) > chunk.memory.size()) {
      throw Error(ErrorKind::internal, "a chunk is larger than its slot");
    }
    chunk.segments[i] = {run.memory + (extent.offset - run.begin), extent.bytes};
  }
}

std::uint64_t Reader::end_of_request(const Run& run) const {
  const std::uint64_t most = std::min(run.begin + block_bytes(), run.end);
  const EncodedArray* const array = files_[run.file]->encoded();
  return array == nullptr ? most : std::min(array->end_of_request(run.begin, most), run.end);
}

void Reader::prepare(Part& part, const Run& run) const {
  part.source = files_[run.file];
  part.direct = run.direct;
}

}  // namespace ooc::detail
