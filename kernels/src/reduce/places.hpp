#pragma once

#include "reduce/tiles.hpp"

#include <ooc/device.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

// The places of elements in arrays in Fortran order: their indices in row-major order. NumPy's
// argmin and argmax are the smallest such indices, also those of NaN. Sums and extremes do not
// depend on them. So tiles are reduced as usual, and then searched for their extremes.

namespace ooc::detail::reduction {

inline constexpr std::uint64_t nowhere_at_all = std::numeric_limits<std::uint64_t>::max();

/// An array of the data. Maps the index of an element in the order of the file to its place in
/// row-major order. Both count from the start of the dataset.
struct ArrayPlaces {
  static constexpr unsigned most_dimensions = 64;

  std::uint64_t first = 0;  // index and place of the first element
  unsigned dimensions = 0;
  // The first dimension varies fastest in the file. A stride is a distance between places.
  std::uint64_t lengths[most_dimensions] = {};
  std::uint64_t strides[most_dimensions] = {};

  constexpr std::uint64_t place_of(std::uint64_t index) const {
    std::uint64_t rest = index - first, place = first;
    for (unsigned d = 0; d < dimensions; ++d) {
      place += rest % lengths[d] * strides[d];
      rest /= lengths[d];
    }
    return place;
  }
};

/// Elements `begin` to `end` - 1 of a chunk, all in one array.
struct PlacedPart {
  ArrayPlaces array;
  std::size_t begin, end;
};

/// Divides a chunk by the arrays of the data. Elements outside of arrays are in row-major order.
std::vector<PlacedPart> parts_of(std::span<const ColumnMajorArray> arrays, std::uint64_t first,
                                 std::size_t count);

/// The place of an element, and its order_key().
struct PlacedKey {
  std::uint64_t place = nowhere_at_all;
  std::uint64_t key = 0;
};

/// The places of a tile's extremes and of its first NaN: the first ones in row-major order.
struct TilePlaces {
  PlacedKey min{}, max{};
  std::uint64_t first_nan = nowhere_at_all;
};

/// Finds the places of the extremes of tiles that reduce_tiles_cpu() has reduced. `lane` has the
/// first extremes of the tiles so far; only extremes that replace these are searched for.
void place_tiles_cpu(ElementType type, const std::byte* data, std::span<const PlacedPart> parts,
                     std::uint64_t first, std::span<const TileResult> results, TilePlaces& lane,
                     std::span<TilePlaces> places);

/// Does the same in device memory, for all tiles. Blocks until `places` are in host memory.
void place_tiles_cuda(Stream& stream, ElementType type, const std::byte* data,
                      std::span<const PlacedPart> parts, std::uint64_t first,
                      std::span<const TileResult> results, std::span<TilePlaces> places);

}  // namespace ooc::detail::reduction
