#pragma once

#include <ooc/detail/base/language.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ooc::detail {

/// How tiles divide a band of an array: all rows from one index to another, in row-major order.
/// Each tile has all of these rows, and of each of their dimensions a part. A tile is stored whole,
/// so the last ones of a dimension may reach beyond the rows. A band that is not divided is one
/// tile, whose rows are its bytes.
class TileGrid {
 public:
  /// A dimension of a row: how long it is, and how much of it each tile has. Bytes if it is the
  /// last, which holds whole elements; else indices.
  struct Side {
    std::uint64_t length;
    std::uint64_t tile;

    friend bool operator==(const Side&, const Side&) = default;
  };

  /// The products of all lengths, and of all lengths of a tile, fit in 64 bits; none is 0.
  explicit TileGrid(std::span<const Side> row = {});

  std::uint64_t row_bytes() const noexcept { return dimensions_.front().stride; }
  std::uint64_t tile_row_bytes() const noexcept { return dimensions_.front().tile_stride; }
  /// Returns the number of tiles of a band.
  std::uint64_t tiles() const noexcept { return dimensions_.front().tiles_behind; }

  /// Calls `visit` for each contiguous run of a tile that lies in the bytes from `begin` to `end`
  /// of its band, with the places of its first byte in the band and in the tile, and its length.
  template <class Visit>
  void visit_runs(std::uint64_t tile, std::uint64_t begin, std::uint64_t end,
                  const Visit& visit) const {
    visit_from(0, Place{tile, 0, 0}, begin, end, visit);
  }

  /// Returns the number of these bytes that a tile has.
  std::uint64_t bytes_in(std::uint64_t tile, std::uint64_t begin, std::uint64_t end) const;

 private:
  struct Dimension {
    std::uint64_t length, tile;
    std::uint64_t stride = 1, tile_stride = 1;  // from one index to the next (bytes)
    std::uint64_t tiles_behind = 1;             // tiles that have the same part of this dimension
  };

  struct Place {
    std::uint64_t tile;     // among those that have the same part of the dimensions before
    std::uint64_t in_band;  // byte with index 0 of this dimension
    std::uint64_t in_tile;  // byte with the first index of this dimension that the tile has
  };

  template <class Visit>
  void visit_from(std::size_t number, Place place, std::uint64_t begin, std::uint64_t end,
                  const Visit& visit) const {
    const Dimension& one = dimensions_[number];
    const std::uint64_t part_begin = place.tile / one.tiles_behind * one.tile;
    const std::uint64_t part_end = part_begin + std::min(one.tile, one.length - part_begin);
    // The indices whose bytes, or some of them, are wanted.
    const std::uint64_t skipped = begin > place.in_band ? begin - place.in_band : 0;
    const std::uint64_t wanted = end > place.in_band ? end - place.in_band : 0;
    const std::uint64_t first = std::max(part_begin, skipped / one.stride);
    const std::uint64_t last =
        std::min(part_end, wanted / one.stride + (wanted % one.stride == 0 ? 0 : 1));
    if (first >= last) return;
    if (number + 1 == dimensions_.size()) {
      return visit(place.in_band + first, place.in_tile + (first - part_begin), last - first);
    }
    for (std::uint64_t i = first; i < last; ++i) {
      visit_from(number + 1,
                 Place{place.tile % one.tiles_behind, place.in_band + i * one.stride,
                       place.in_tile + (i - part_begin) * one.tile_stride},
                 begin, end, visit);
    }
  }

  std::vector<Dimension> dimensions_;  // the first one are the rows
};

}  // namespace ooc::detail
