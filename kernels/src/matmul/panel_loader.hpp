#pragma once

#include "matmul/chunk_copies.hpp"
#include "matmul/run.hpp"
#include "matmul/work_timer.hpp"

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/chunk_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ooc::product {

/// Memory for a panel on the device. `loaded`: the panel is there; `used`: the last product that
/// needed it is done, so that it may be overwritten.
struct PanelBuffer {
  Buffer memory;
  std::unique_ptr<Event> loaded, used;
};

/// Brings panels to the device: from the pool, where the reader puts their pieces, or from the host
/// memory that keeps panels for another time. Belongs to the multiplier's thread.
class PanelLoader {
 public:
  PanelLoader(Device& device, const ProductJob& job, ChunkPool& pool, const RegionPlan& plan,
              const Observe& observe);

  /// The pieces that `plan` must have: those of all loads that come from files.
  static std::vector<RegionPlan::Entry> entries_of(const ProductJob& job);

  /// Enqueues a panel's way into `target`. Blocks while its pieces are being read. Throws
  /// Error(interrupted) if they will not be, because the reader was stopped.
  void load(const Load& load, PanelBuffer& target);

  /// Gives all chunks back. Nothing is under way then.
  void finish();

  /// Waits on the way out of an error, until the device no longer touches pool or panels.
  void drain() noexcept { stream_->drain(); }

  std::uint64_t link_bytes() const { return link_bytes_; }
  double copy_seconds() const { return copies_.copy_seconds() + kept_seconds_; }
  double wait_seconds() const { return copies_.wait_seconds(); }

 private:
  /// A panel that is kept in host memory, as in its file.
  struct CacheEntry {
    std::byte* memory;
    std::unique_ptr<Event> sent;  // the last copy out of it
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
  WorkTimer kept_copies_;  // of panels that were kept
  double kept_seconds_ = 0;
  std::size_t next_entry_ = 0;  // of the plan
  std::uint64_t link_bytes_ = 0;
};

/// Which elements of its matrix a panel has.
Region panel_region(const ProductJob& job, const Load& load);

}  // namespace ooc::product
