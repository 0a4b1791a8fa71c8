#pragma once

#include "panel_loader.hpp"

#include <ooc/buffer.hpp>
#include <ooc/device.hpp>
#include <ooc/io/chunk_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::product {

/// Memory for a tile of C on the device; `computed`: all of its parts have been added up.
struct TileBuffer {
  Buffer memory;
  std::unique_ptr<Event> computed;
};

/// Takes tiles of C home, in the order in which they are made, and hands their pieces to the
/// writer. `tiles` tells whose turn it is at a buffer: tile t is made in buffer t % tiles.size().
/// Belongs to one thread.
class TileSender {
 public:
  TileSender(Device& device, const Job& job, std::vector<TileBuffer>& buffers, ChunkPool& tiles,
             ChunkPool& pool, const RegionPlan& plan);

  /// The pieces that `plan` must have: those of all tiles.
  static std::vector<RegionPlan::Entry> entries_of(const Job& job, std::uint64_t data_offset);

  /// Sends `count` tiles. Throws Error, Aborted; nothing is under way then.
  void run(std::size_t count);

  std::uint64_t link_bytes() const { return link_bytes_; }
  double copy_seconds() const { return under_way_.seconds(); }
  double wait_seconds() const { return wait_seconds_; }

 private:
  void send(std::size_t tile, TileBuffer& buffer);
  Chunk& take(std::size_t chunk);
  void lay_out(Chunk& chunk);
  void publish_oldest();

  Device& device_;
  const Job& job_;
  std::vector<TileBuffer>& buffers_;
  ChunkPool& tiles_;
  ChunkPool& pool_;
  const RegionPlan& plan_;
  std::unique_ptr<Stream> stream_;
  CopiesUnderWay under_way_;
  std::vector<Extent> extents_;
  std::uint64_t link_bytes_ = 0;
  double wait_seconds_ = 0;
};

}  // namespace ooc::product
