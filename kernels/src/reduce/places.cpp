#include "reduce/places.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>

namespace ooc::detail::reduction {
namespace {

/// Returns the places of an array in Fortran order. Dimensions of length 1 are left out.
ArrayPlaces places_of(const ColumnMajorArray& array) {
  ArrayPlaces places{.first = array.first};
  std::uint64_t stride = 1;
  for (const std::uint64_t length : array.shape) stride *= length;
  for (const std::uint64_t length : array.shape) {
    stride /= length;
    if (length == 1) continue;
    places.lengths[places.dimensions] = length;
    places.strides[places.dimensions++] = stride;
  }
  return places;
}

/// Returns the places of elements in row-major order, which equal their indices.
ArrayPlaces row_major(std::uint64_t first) {
  ArrayPlaces places{.first = first, .dimensions = 1};
  places.lengths[0] = nowhere_at_all;
  places.strides[0] = 1;
  return places;
}

std::uint64_t elements_of(const ColumnMajorArray& array) {
  std::uint64_t count = 1;
  for (const std::uint64_t length : array.shape) count *= length;
  return count;
}

/// Walks over the columns of an array: runs of elements along its first dimension. Places increase
/// within a column.
class ColumnWalk {
 public:
  ColumnWalk(const ArrayPlaces& array, std::uint64_t index)
      : array_(array), place_(array.place_of(index)) {
    std::uint64_t rest = index - array.first;
    for (unsigned d = 0; d < array.dimensions; ++d) {
      at_[d] = rest % array.lengths[d];
      rest /= array.lengths[d];
    }
  }

  /// Returns the place of the next element.
  std::uint64_t place() const { return place_; }
  /// Returns the distance between the places of neighbours in a column.
  std::uint64_t stride() const { return array_.dimensions == 0 ? 1 : array_.strides[0]; }
  /// Returns the number of elements up to the end of the column.
  std::uint64_t left() const { return array_.dimensions == 0 ? 1 : array_.lengths[0] - at_[0]; }

  /// Moves to the beginning of the next column.
  void next() {
    if (array_.dimensions == 0) return;
    place_ -= at_[0] * array_.strides[0];
    at_[0] = 0;
    for (unsigned d = 1; d < array_.dimensions; ++d) {
      place_ += array_.strides[d];
      if (++at_[d] < array_.lengths[d]) return;
      place_ -= array_.lengths[d] * array_.strides[d];
      at_[d] = 0;
    }
  }

 private:
  const ArrayPlaces& array_;
  std::uint64_t place_;
  std::array<std::uint64_t, ArrayPlaces::most_dimensions> at_{};
};

/// Calls found(place, element) for each matching element whose place is before `before` and before
/// those of all earlier matches.
template <class T, class Matches, class Found>
void for_first_places(const T* data, const PlacedPart& part, std::uint64_t first,
                      std::uint64_t before, Matches matches, Found found) {
  ColumnWalk walk(part.array, first + part.begin);
  for (std::size_t i = part.begin; i < part.end; walk.next()) {
    const std::size_t run = std::min<std::uint64_t>(walk.left(), part.end - i);
    const std::uint64_t ahead = before - std::min(walk.place(), before);
    const std::size_t looked = std::min<std::uint64_t>(run, divide_up(ahead, walk.stride()));
    const T* const end = data + i + looked;
    const T* const match = std::find_if(data + i, end, matches);
    if (match != end) {
      before = walk.place() + static_cast<std::uint64_t>(match - (data + i)) * walk.stride();
      found(before, *match);
    }
    i += run;
  }
}

/// Finds the first element that equals an extreme of a tile, unless the lane has a better one.
template <class T, class IsBetter>
void place(const T* data, const PlacedPart& part, std::uint64_t first, std::uint64_t extreme_key,
           IsBetter is_better, PlacedKey& lane, PlacedKey& best) {
  const std::uint64_t rank = rank_of<T>(extreme_key), lane_rank = rank_of<T>(lane.key);
  const bool is_new = lane.place == nowhere_at_all || is_better(rank, lane_rank);
  if (!is_new && rank != lane_rank) return;
  const auto matches = [rank](T value) {
    const double number = to_double(value);
    return number == number && rank_of<T>(order_key(value)) == rank;
  };
  for_first_places(data, part, first, is_new ? nowhere_at_all : lane.place, matches,
                   [&](std::uint64_t place, T value) {
                     lane = best = {place, order_key(value)};
                   });
}

template <class T>
void place_tile(const T* data, const PlacedPart& part, std::uint64_t first,
                const TileResult& result, TilePlaces& lane, TilePlaces& places) {
  if (result.nan != 0) {
    const auto is_nan = [](T value) { return to_double(value) != to_double(value); };
    for_first_places(data, part, first, lane.first_nan, is_nan,
                     [&](std::uint64_t place, T) { lane.first_nan = places.first_nan = place; });
  }
  place(data, part, first, result.min_key, std::less{}, lane.min, places.min);
  place(data, part, first, result.max_key, std::greater{}, lane.max, places.max);
}

}  // namespace

std::vector<PlacedPart> parts_of(std::span<const ColumnMajorArray> arrays, std::uint64_t first,
                                 std::size_t count) {
  std::vector<PlacedPart> parts;
  const std::uint64_t end = first + count;
  std::uint64_t done = first;
  const auto add_up_to = [&](const ArrayPlaces& array, std::uint64_t up_to) {
    if (up_to <= done) return;
    parts.push_back({array, done - first, up_to - first});
    done = up_to;
  };
  for (const ColumnMajorArray& array : arrays) {
    const std::uint64_t array_end = array.first + elements_of(array);
    if (array_end <= done || array.first >= end) continue;
    add_up_to(row_major(done), array.first);
    add_up_to(places_of(array), std::min(array_end, end));
  }
  add_up_to(row_major(done), end);
  return parts;
}

void place_tiles_cpu(ElementType type, const std::byte* data, std::span<const PlacedPart> parts,
                     std::uint64_t first, std::span<const TileResult> results, TilePlaces& lane,
                     std::span<TilePlaces> places) {
  visit(type, [&]<class T>(std::type_identity<T>) {
    for (const PlacedPart& part : parts) {
      for (std::size_t begin = part.begin; begin < part.end;) {
        const std::size_t tile = begin / tile_elements;
        const std::size_t end = std::min((tile + 1) * tile_elements, part.end);
        place_tile(reinterpret_cast<const T*>(data), {part.array, begin, end}, first, results[tile],
                   lane, places[tile]);
        begin = end;
      }
    }
  });
}

}  // namespace ooc::detail::reduction
