#include "matmul/tile_sender.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/decoder.hpp>

namespace ooc::detail::product {

std::vector<RegionPlan::Entry> TileSender::entries_of(const ProductJob& job) {
  const Problem& problem = job.problem;
  const Tiling& tiling = job.schedule.tiling;
  std::vector<RegionPlan::Entry> entries;
  const Step* before = nullptr;
  for (const Step& step : job.schedule.steps) {
    const bool same = before != nullptr && step.row == before->row && step.column == before->column;
    before = &step;
    if (same) continue;
    entries.push_back(
        {job.product,
         Region{.row = step.row * tiling.tile_rows,
                .column = step.column * tiling.tile_columns,
                .rows = part_size(problem.rows, tiling.tile_rows, step.row),
                .columns = part_size(problem.columns, tiling.tile_columns, step.column)}});
  }
  return entries;
}

TileSender::TileSender(Device& device, const ProductJob& job, std::vector<TileBuffer>& buffers,
                       Turns& tiles, ChunkPool& pool, const RegionPlan& plan,
                       const Observe& observe)
    : device_(device),
      job_(job),
      buffers_(buffers),
      tiles_(tiles),
      plan_(plan),
      stream_(device.make_stream()),
      copies_(device, pool, CopyDirection::d2h, observe,
              [&pool](const Chunk& chunk) { pool.publish(chunk, ChunkState::computed); }),
      extents_(plan.max_extents()) {}

void TileSender::run(std::size_t count) {
  device_.bind_to_thread();
  try {
    for (std::size_t tile = 0; tile < count; ++tile) {
      tiles_.wait(tile, ChunkState::computed);
      send(tile, buffers_[tile % buffers_.size()]);
      tiles_.finish(tile);
    }
  } catch (...) {
    // The pool must not be freed while a copy into it is in flight.
    stream_->drain();
    throw;
  }
}

void TileSender::send(std::size_t tile, TileBuffer& buffer) {
  stream_->wait(*buffer.computed);
  const Region& region = plan_.entry_of(plan_.first_chunk(tile)).region;
  const std::size_t element_bytes = job_.problem.product_bytes;
  if (job_.types.product.swapped) {
    decoder_of(*stream_).swap_bytes(buffer.memory.data(),
                                    region.rows * region.columns * element_bytes, element_bytes);
  }
  for (std::size_t k = plan_.first_chunk(tile); k < plan_.first_chunk(tile + 1); ++k) {
    Chunk& chunk = *copies_.take(k);
    lay_out(chunk);
    const Region piece = plan_.region(k);
    const std::uint64_t first =
        (piece.row - region.row) * region.columns + (piece.column - region.column);
    copies_.begin(*stream_);
    copy(*stream_, CopyDirection::d2h, buffer.memory.data() + first * element_bytes,
         chunk.segments);
    copies_.end(*stream_, chunk);
    link_bytes_ += piece.rows * piece.columns * element_bytes;
  }
  copies_.finish();
}

/// Sets the offset of each extent within its page of the slot to that within its page of the file,
/// so that whole blocks of the slot can be written directly.
void TileSender::lay_out(Chunk& chunk) {
  std::size_t slot_offset = 0;
  for (const Extent& extent : plan_.extents(chunk.index, extents_)) {
    const std::size_t begin = slot_offset + extent.offset % page_bytes;
    chunk.segments.push_back(chunk.memory.subspan(begin, extent.bytes));
    slot_offset = round_up(begin + extent.bytes, page_bytes);
  }
}

}  // namespace ooc::detail::product
