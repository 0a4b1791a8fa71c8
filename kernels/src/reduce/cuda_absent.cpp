// Replaces the functions of reduce/ that need CUDA in builds without it.

#include "base/cuda_absent.hpp"
#include "reduce/exact_sum.hpp"
#include "reduce/places.hpp"
#include "reduce/tiles.hpp"

namespace ooc::detail::reduction {

void reduce_tiles_cuda(Stream&, ElementType, const std::byte*, std::size_t, std::span<TileResult>) {
  refuse_cuda();
}

void add_exactly_cuda(Stream&, ElementType, const std::byte*, std::size_t, ExactSum&) {
  refuse_cuda();
}

void place_tiles_cuda(Stream&, ElementType, const std::byte*, std::span<const PlacedPart>,
                      std::uint64_t, std::span<const TileResult>, std::span<TilePlaces>) {
  refuse_cuda();
}

}  // namespace ooc::detail::reduction
