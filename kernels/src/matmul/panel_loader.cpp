#include "matmul/panel_loader.hpp"

#include "convert/values.hpp"

#include <ooc/detail/device/decoder.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstring>

namespace ooc::detail::product {

Region panel_region(const ProductJob& job, const Load& load) {
  const Problem& problem = job.problem;
  const Tiling& tiling = job.schedule.tiling;
  const bool a = load.operand == Operand::a;
  const std::uint64_t rows = a ? problem.rows : problem.inner;
  const std::uint64_t columns = a ? problem.inner : problem.columns;
  const std::uint64_t panel_rows = a ? tiling.tile_rows : tiling.tile_inner;
  const std::uint64_t panel_columns = a ? tiling.tile_inner : tiling.tile_columns;
  return {.row = load.row * panel_rows,
          .column = load.column * panel_columns,
          .rows = part_size(rows, panel_rows, load.row),
          .columns = part_size(columns, panel_columns, load.column)};
}

std::vector<RegionPlan::Entry> PanelLoader::entries_of(const ProductJob& job) {
  std::vector<RegionPlan::Entry> entries;
  for (const Load& load : job.schedule.loads) {
    if (load.from != none) continue;
    entries.push_back({job.operands[load.operand == Operand::a ? 0 : 1], panel_region(job, load)});
  }
  return entries;
}

PanelLoader::PanelLoader(Device& device, const ProductJob& job, ChunkPool& pool,
                         const RegionPlan& plan, const Observe& observe)
    : job_(job),
      plan_(plan),
      stream_(device.make_stream()),
      copies_(device, pool, CopyDirection::h2d, observe,
              [&pool](const Chunk& chunk) { pool.recycle(chunk); }),
      kept_copies_(device, observe) {
  auto& device_memory = device.working_memory();
  if (job.types.converts()) staging_ = Buffer(device_memory, job.pools.staging_bytes);
  const Tiling& tiling = job.schedule.tiling;
  if (tiling.cache_entries == 0) return;
  cache_memory_ = Buffer(device.host_memory(), tiling.cache_entries * tiling.cache_entry_bytes);
  for (std::size_t i = 0; i < tiling.cache_entries; ++i) {
    cache_.push_back({cache_memory_.data() + i * tiling.cache_entry_bytes, device.make_event()});
  }
}

void PanelLoader::load(const Load& load, PanelBuffer& target) {
  stream_->wait(*target.used);
  const Region panel = panel_region(job_, load);
  if (load.from == none) {
    load_from_file(load, panel, target.memory.data());
  } else {
    load_from_cache(cache_[static_cast<std::size_t>(load.from)], panel, target.memory.data());
  }
  stream_->record(*target.loaded);
}

/// Each piece consists of whole rows of its panel, or of a part of one row, so that its elements
/// are contiguous on the device.
void PanelLoader::load_from_file(const Load& load, const Region& panel, std::byte* target) {
  CacheEntry* const keep =
      load.keep == none ? nullptr : &cache_[static_cast<std::size_t>(load.keep)];
  if (keep != nullptr) keep->sent->synchronize();  // the entry is about to be overwritten
  const std::size_t end = plan_.first_chunk(next_entry_ + 1);
  for (std::size_t k = plan_.first_chunk(next_entry_); k < end; ++k) {
    Chunk& chunk = take(k);
    const Region piece = plan_.region(k);
    const std::uint64_t first =
        (piece.row - panel.row) * panel.columns + (piece.column - panel.column);
    copies_.begin(*stream_);
    bring(chunk.segments, target + first * job_.problem.operand_bytes);
    copies_.end(*stream_, chunk);
    if (keep == nullptr) continue;
    std::byte* kept = keep->memory + first * job_.problem.file_bytes;
    for (const std::span<std::byte> segment : chunk.segments) {
      std::memcpy(kept, segment.data(), segment.size());
      kept += segment.size();
    }
  }
  ++next_entry_;
}

void PanelLoader::load_from_cache(CacheEntry& entry, const Region& panel, std::byte* target) {
  const std::span<std::byte> kept{entry.memory,
                                  panel.rows * panel.columns * job_.problem.file_bytes};
  kept_copies_.begin(*stream_);
  bring({&kept, 1}, target);
  kept_copies_.end(
      *stream_,
      {.kind = kind_of(CopyDirection::h2d), .chunk = TraceEvent::no_chunk, .bytes = kept.size()});
  stream_->record(*entry.sent);
}

/// Returns the next piece from the reader.
Chunk& PanelLoader::take(std::size_t chunk) {
  Chunk* const taken = copies_.take(chunk);
  if (taken == nullptr) throw interrupted();
  return *taken;
}

/// Copies elements to the device, and converts them there to the type and byte order of the
/// operands.
void PanelLoader::bring(std::span<const std::span<std::byte>> segments, std::byte* target) {
  const std::size_t bytes = segments.size() * segments[0].size();
  link_bytes_ += bytes;
  if (!job_.types.converts()) {
    copy(*stream_, CopyDirection::h2d, target, segments);
    if (job_.types.file.swapped)
      decoder_of(*stream_).swap_bytes(target, bytes, job_.problem.file_bytes);
    return;
  }
  const std::size_t fit = staging_.size() / segments[0].size();  // segments at once
  if (fit != 0) {
    for (std::size_t i = 0; i < segments.size(); i += fit) {
      const auto some = segments.subspan(i, std::min(fit, segments.size() - i));
      bring_converted(some, target);
      target += some.size() * some[0].size() / job_.problem.file_bytes * job_.problem.operand_bytes;
    }
    return;
  }
  for (std::span<std::byte> rest : segments) {
    while (!rest.empty()) {
      const std::span<std::byte> part = rest.first(std::min(staging_.size(), rest.size()));
      bring_converted({&part, 1}, target);
      target += part.size() / job_.problem.file_bytes * job_.problem.operand_bytes;
      rest = rest.subspan(part.size());
    }
  }
}

/// Like bring(), for segments that together fit in the staging memory.
void PanelLoader::bring_converted(std::span<const std::span<std::byte>> segments,
                                  std::byte* target) {
  const std::size_t bytes = segments.size() * segments[0].size();
  const Types& types = job_.types;
  std::byte* const landing = staging_.data();
  copy(*stream_, CopyDirection::h2d, landing, segments);
  if (types.file.swapped) decoder_of(*stream_).swap_bytes(landing, bytes, job_.problem.file_bytes);
  conversion::convert_values(*stream_, types.file.element, types.operand, landing, target,
                             bytes / job_.problem.file_bytes, conversion::Beyond::convert, nullptr);
}

void PanelLoader::finish() {
  stream_->synchronize();
  copies_.finish();
  kept_seconds_ = kept_copies_.seconds();
}

}  // namespace ooc::detail::product
