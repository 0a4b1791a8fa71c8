#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/writer.hpp>

#include <algorithm>
#include <utility>

namespace ooc::detail {

Writer::Writer(std::vector<OutputFile*> files, const Plan& plan, ChunkPool& pool,
               std::unique_ptr<Engine> engine, std::size_t block_bytes, bool direct)
    : Transfer(plan, pool, std::move(engine), block_bytes),
      files_(std::move(files)),
      direct_(direct),
      is_done_(pool.window()) {}

void Writer::run() {
  transfer_chunks([this] { return plan().size(); });
}

void Writer::complete(Chunk& chunk) {
  is_done_[chunk.index % is_done_.size()] = true;
  std::size_t done = chunks_done();
  for (; is_done_[done % is_done_.size()]; ++done) is_done_[done % is_done_.size()] = false;
  pool().recycle(chunk);
  chunks_done_.store(done, std::memory_order_release);
}

/// The lane has made the segments.
void Writer::lay_out(Chunk& chunk, std::span<const Extent> extents, std::vector<Run>& runs) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto& [file, begin, bytes, cached, input] = extents[i];
    const std::uint64_t end = begin + bytes;
    const bool direct = direct_ && files_[file]->direct() >= 0;
    runs.push_back({file, direct, begin, end, begin, end, chunk.segments[i].data()});
  }
}

/// A direct request consists of whole blocks. The beginning of a run up to the first whole block,
/// and its end after the last one, are separate requests.
std::uint64_t Writer::end_of_request(const Run& run) const {
  const std::uint64_t wanted = std::min(run.begin + block_bytes(), run.end);
  if (!run.direct) return wanted;
  const std::uint64_t block_begin = round_up(run.begin, File::alignment());
  if (run.begin != block_begin) return std::min(block_begin, run.end);
  const std::uint64_t block_end = round_down(wanted, File::alignment());
  return block_end > run.begin ? block_end : run.end;
}

void Writer::prepare(Part& part, const Run& run) const {
  const auto whole = [](std::uint64_t value) { return value % File::alignment() == 0; };
  part.target = files_[run.file];
  part.direct = run.direct && whole(part.offset) && whole(part.bytes) &&
                whole(reinterpret_cast<std::uintptr_t>(part.memory));
}

}  // namespace ooc::detail
