#pragma once

#include "reduce/tiles.hpp"

#include <ooc/detail/kernels/simd.hpp>
#include <ooc/device.hpp>
#include <ooc/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The definition of the statistics of the tiles of several lines, which both backends follow to the
// bit. A line is a column of rows of elements, or a row.
//
// Element i of a tile belongs to phase i % `phases`. In each line, a phase adds its elements from
// the first to the last, and the phases are then added in a binary tree: phase k adds phase k + s,
// for s = phases / 2, ..., 2, 1. A second loop over the tile adds, in the same order, the squared
// distances from the mean of the line. All else is as in reduce/tiles.hpp, whose definition this is
// for 256 phases. A tile of no more elements than phases has the same bits with more of these.

namespace ooc::detail::lines {

using reduction::TileResult;

/// Lines of equal length in memory, which are reduced beside each other.
struct Lines {
  const std::byte* data;  // of the first element of the first line
  std::size_t count;      // of lines
  std::size_t length;     // elements of a line
  std::size_t stride;     // elements from a line to the next one
  std::size_t step;       // elements from one of a line to the next one
  std::size_t tile;       // elements of a tile; the last one of a line may have fewer
  std::size_t phases;     // a power of two: 32, or 256, or at least `length`
  bool squares = true;    // false: the second loop is left out, and `m2` is not set

  std::size_t tiles() const { return (length + tile - 1) / tile; }
};

inline constexpr std::size_t most_phases = reduction::columns;

/// Reduces each tile of each line to a result, for all lines of the first tile, then of the second,
/// and so on. Indices in results count from the start of the tile. `seen`: the extremes of each
/// line before. `packed`: scratch memory.
void reduce_lines_cpu(ElementType type, const Lines& lines, Simd simd,
                      std::span<reduction::SeenExtremes> seen, std::vector<std::byte>& packed,
                      std::span<TileResult> results);

/// Does the same in device memory, with results there, and without `seen`.
void reduce_lines_cuda(Stream& stream, ElementType type, const Lines& lines, TileResult* results);

}  // namespace ooc::detail::lines
