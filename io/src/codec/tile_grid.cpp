#include <ooc/detail/codec/tile_grid.hpp>

#include <ooc/detail/base/units.hpp>

#include <limits>

namespace ooc::detail {

TileGrid::TileGrid(std::span<const Side> row) {
  constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
  dimensions_.push_back({.length = no_end, .tile = no_end});
  for (const auto& [length, tile] : row) dimensions_.push_back({.length = length, .tile = tile});
  std::uint64_t stride = 1, tile_stride = 1, tiles = 1;
  for (std::size_t i = dimensions_.size(); i-- > 0;) {
    Dimension& one = dimensions_[i];
    one.stride = stride;
    one.tile_stride = tile_stride;
    one.tiles_behind = tiles;
    if (i == 0) break;
    stride *= one.length;
    tile_stride *= one.tile;
    tiles *= divide_up(one.length, one.tile);
  }
}

std::uint64_t TileGrid::bytes_in(std::uint64_t tile, std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t all = 0;
  visit_runs(tile, begin, end,
             [&](std::uint64_t, std::uint64_t, std::uint64_t bytes) { all += bytes; });
  return all;
}

}  // namespace ooc::detail
