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

Transfer::ByteRange Writer::range_of(const Extent& extent) const {
  return {extent.offset, extent.offset + extent.bytes};
}

/// A direct request consists of whole blocks. The beginning of an extent up to the first whole
/// block, and its end after the last one, are separate requests.
std::uint64_t Writer::end_of_request(const Extent& extent, std::uint64_t offset) const {
  const std::uint64_t end = extent.offset + extent.bytes;
  const std::uint64_t wanted = std::min(offset + block_bytes(), end);
  if (!writes_directly(extent)) return wanted;
  const std::uint64_t block_begin = round_up(offset, File::alignment());
  if (offset != block_begin) return std::min(block_begin, end);
  const std::uint64_t block_end = round_down(wanted, File::alignment());
  return block_end > offset ? block_end : end;
}

bool Writer::writes_directly(const Extent& extent) const {
  return direct_ && files_[extent.file]->direct() >= 0;
}

void Writer::prepare(Part& part, const Extent& extent) const {
  const auto whole = [](std::uint64_t value) { return value % File::alignment() == 0; };
  part.target = files_[extent.file];
  part.direct = writes_directly(extent) && whole(part.offset) && whole(part.bytes) &&
                whole(reinterpret_cast<std::uintptr_t>(part.memory));
}

}  // namespace ooc::detail
