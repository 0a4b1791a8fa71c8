#pragma once

#include "matmul/chunk_copies.hpp"
#include "matmul/run.hpp"

#include <ooc/detail/pool/chunk_pool.hpp>
#include <ooc/device.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::detail::product {

/// Device memory for a tile of C. `computed` is recorded when the tile is complete.
struct TileBuffer {
  Buffer memory;
  std::unique_ptr<Event> computed;
};

/// Copies tiles of C to the host, in the order in which they are computed, and passes their pieces
/// to the writer. `tiles` orders the use of the buffers: tile t is in buffer t % tiles.window().
/// Used by one thread.
class TileSender {
 public:
  TileSender(Device& device, const ProductJob& job, std::vector<TileBuffer>& buffers, Turns& tiles,
             ChunkPool& pool, const RegionPlan& plan, const Observe& observe);

  /// Returns the regions that `plan` must consist of: all tiles.
  static std::vector<RegionPlan::Entry> entries_of(const ProductJob& job);

  /// Sends `count` tiles. Throws Error or Aborted; no copy is in flight then.
  void run(std::size_t count);

  std::uint64_t link_bytes() const { return link_bytes_; }
  const ChunkCopies& copies() const { return copies_; }

 private:
  void send(std::size_t tile, TileBuffer& buffer);
  void lay_out(Chunk& chunk);

  Device& device_;
  const ProductJob& job_;
  std::vector<TileBuffer>& buffers_;
  Turns& tiles_;
  const RegionPlan& plan_;
  std::unique_ptr<Stream> stream_;
  ChunkCopies copies_;
  std::vector<Extent> extents_;
  std::uint64_t link_bytes_ = 0;
};

}  // namespace ooc::detail::product
