#pragma once

#include "matmul/chunk_copies.hpp"
#include "matmul/run.hpp"
#include "matmul/work_timer.hpp"

#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ooc::detail::product {

/// Device memory for a panel. `loaded` is recorded when the panel has arrived; `used` when the last
/// product that needs it is done, so that it may be overwritten.
struct PanelBuffer {
  Buffer memory;
  std::unique_ptr<Event> loaded, used;
};

/// Loads panels to the device: from the pool, into which the reader reads their pieces, or from the
/// panel cache in host memory. Used by the multiplier's thread.
class PanelLoader {
 public:
  PanelLoader(Device& device, const ProductJob& job, ChunkPool& pool, const RegionPlan& plan,
              const Observe& observe);

  /// Returns the regions that `plan` must consist of: the panels of all loads from files.
  static std::vector<RegionPlan::Entry> entries_of(const ProductJob& job);

  /// Enqueues the load of a panel into `target`. Blocks until its pieces have been read. Throws
  /// Error(interrupted) if the reader was stopped before.
  void load(const Load& load, PanelBuffer& target);

  /// Waits for all copies, and returns all chunks to the pool.
  void finish();

  /// Waits until the device no longer uses pool or panels. Called while an error is handled.
  void drain() noexcept { stream_->drain(); }

  std::uint64_t link_bytes() const { return link_bytes_; }
  double copy_seconds() const { return copies_.copy_seconds() + kept_seconds_; }
  double wait_seconds() const { return copies_.wait_seconds(); }

 private:
  /// A panel in the cache, in the format of its file.
  struct CacheEntry {
    std::byte* memory;
    std::unique_ptr<Event> sent;  // recorded after the last copy out of it
  };

  void load_from_file(const Load& load, const Region& panel, std::byte* target);
  void load_from_cache(CacheEntry& entry, const Region& panel, std::byte* target);
  Chunk& take(std::size_t chunk);
  void bring(std::span<const std::span<std::byte>> segments, std::byte* target);
  void bring_converted(std::span<const std::span<std::byte>> segments, std::byte* target);

  const ProductJob& job_;
  const RegionPlan& plan_;
  std::unique_ptr<Stream> stream_;
  Buffer staging_;
  Buffer cache_memory_;
  std::vector<CacheEntry> cache_;
  ChunkCopies copies_;
  WorkTimer kept_copies_;  // copies from the panel cache
  double kept_seconds_ = 0;
  std::size_t next_entry_ = 0;  // index of the plan's next entry
  std::uint64_t link_bytes_ = 0;
};

/// Returns the region of its matrix that a panel covers.
Region panel_region(const ProductJob& job, const Load& load);

}  // namespace ooc::detail::product
