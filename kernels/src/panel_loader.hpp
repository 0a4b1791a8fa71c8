#pragma once

#include "matmul_run.hpp"

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/chunk_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Chunks whose copies to or from the device have been enqueued, in the order in which they end.
class CopiesUnderWay {
 public:
  explicit CopiesUnderWay(Device& device, std::size_t most);

  bool empty() const { return chunks_.empty(); }
  bool full() const { return chunks_.size() == events_.size(); }

  /// To be called before the copies of a chunk are enqueued, and after.
  void begin(Stream& stream);
  void end(Stream& stream, Chunk& chunk);

  /// Waits for the oldest and returns it.
  Chunk& finish();

  /// Device time of those that are done.
  double seconds() const { return seconds_; }

 private:
  struct Events {
    std::unique_ptr<Event> begun, ended;
  };

  std::vector<Events> events_;  // taken in turn
  std::size_t next_ = 0;
  std::deque<Chunk*> chunks_;
  double seconds_ = 0;
};

/// Copies between adjacent elements on the device and the segments of a chunk, all of one length,
/// in as few calls as possible.
void copy_in(Stream& stream, std::byte* target, std::span<const std::span<std::byte>> segments);
void copy_out(Stream& stream, std::span<const std::span<std::byte>> segments,
              const std::byte* source);

/// Brings panels to the device: from the pool, where the reader puts their pieces, or from the host
/// memory that keeps panels for another time. Belongs to the multiplier's thread.
class PanelLoader {
 public:
  PanelLoader(Device& device, const Job& job, ChunkPool& pool, const RegionPlan& plan);

  /// The pieces that `plan` must have: those of all loads that come from files.
  static std::vector<RegionPlan::Entry> entries_of(const Job& job);

  /// Enqueues a panel's way into `target`. Blocks while its pieces are being read. Throws
  /// Error(interrupted) if they will not be, because the reader was stopped.
  void load(const Load& load, PanelBuffer& target);

  /// Gives all chunks back. Nothing is under way then.
  void finish();

  std::uint64_t link_bytes() const { return link_bytes_; }
  double copy_seconds() const { return under_way_.seconds(); }
  double wait_seconds() const { return wait_seconds_; }

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

  const Job& job_;
  ChunkPool& pool_;
  const RegionPlan& plan_;
  std::unique_ptr<Stream> stream_;
  Buffer staging_;
  Buffer cache_memory_;
  std::vector<CacheEntry> cache_;
  CopiesUnderWay under_way_;
  std::size_t next_entry_ = 0;  // of the plan
  std::uint64_t link_bytes_ = 0;
  double wait_seconds_ = 0;
};

/// Which elements of its matrix a panel has.
Region panel_region(const Job& job, const Load& load);

}  // namespace ooc::product
