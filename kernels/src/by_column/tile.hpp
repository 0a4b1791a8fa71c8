#pragma once

#include "reduce/tiles.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The definition of the statistics of the columns of a tile of rows, which both backends follow to
// the bit.
//
// Row i of a tile belongs to phase i % 32. In each column, a phase adds its elements from the first
// to the last, and the phases are then added in a binary tree: phase k adds phase k + s, for s =
// 16, 8, 4, 2, 1. A second loop over the tile adds, in the same order, the squared distances from
// the mean of the column. All else is as in reduce/tiles.hpp. A result has the indices of rows.

namespace ooc::detail::by_column {

inline constexpr std::size_t phases = 32;

using reduction::TileResult;

/// Rows of elements, one after another.
struct Rows {
  const std::byte* data;
  std::size_t count;    // of rows
  std::size_t columns;  // elements of a row
  std::size_t tile;     // rows of a tile; the last one may have fewer
};

/// State of a CPU lane between tiles, as reduction::CpuLane.
struct CpuLane {
  /// Starts a chunk at row `first`.
  void begin_chunk(std::uint64_t first, std::uint64_t rows, std::size_t columns) {
    if (first < end || seen.empty()) seen.assign(columns, {});
    end = first + rows;
  }

  std::uint64_t end = 0;                        // of the last chunk
  std::vector<reduction::SeenExtremes> seen{};  // of each column
  std::vector<std::byte> packed{};              // scratch memory: some columns of a tile
};

/// Reduces rows of elements of `type`, which begin a tile, to one result for each column of each
/// tile: tile by tile.
void reduce_tiles_cpu(ElementType type, const Rows& rows, Simd simd, CpuLane& lane,
                      std::span<TileResult> results);

/// Does the same in device memory. Blocks until the results are in host memory.
void reduce_tiles_cuda(Stream& stream, ElementType type, const Rows& rows,
                       std::span<TileResult> results);

}  // namespace ooc::detail::by_column
