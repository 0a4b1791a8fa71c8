#include "codec/chunk_grid.hpp"

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <utility>

#include "base/shape.hpp"

namespace ooc::detail {
namespace {

using Lengths = std::vector<std::uint64_t>;

Lengths chunk_counts(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk) {
  Lengths counts;
  for (std::size_t i = 0; i < shape.size(); ++i) counts.push_back(divide_up(shape[i], chunk[i]));
  return counts;
}

/// Returns the dimension that bands divide: chunks have one index of all dimensions before it.
std::size_t band_dimension(std::span<const std::uint64_t> chunk) {
  std::size_t band = 0;
  while (band + 1 < chunk.size() && chunk[band] == 1) ++band;
  return band;
}

/// Returns what all tiles that have the same rows decode to (bytes); 0 if chunks are no tiles.
std::uint64_t band_bytes(std::span<const std::uint64_t> chunk, const Lengths& counts,
                         std::uint64_t element_bytes) {
  const std::size_t behind = band_dimension(chunk) + 1;
  if (behind >= counts.size()) return 0;
  const std::uint64_t tiles = product_of(std::span(counts).subspan(behind)).value_or(0);
  return tiles <= 1 ? 0 : tiles * *product_of(chunk, element_bytes);  // 2^24 times 2^30 at most
}

}  // namespace

std::string ChunkGrid::why_not(std::span<const std::uint64_t> shape,
                               std::span<const std::uint64_t> chunk, std::uint64_t element_bytes) {
  constexpr std::uint64_t most_bytes = EncodedArray::most_piece_bytes;
  if (product_of(chunk, element_bytes).value_or(~0ull) > most_bytes) {
    return "chunks of more than " + std::to_string(most_bytes) + " bytes";
  }
  const Lengths counts = chunk_counts(shape, chunk);
  if (product_of(counts).value_or(~0ull) > most_chunks) {
    return "more than " + std::to_string(most_chunks) + " chunks";
  }
  const std::uint64_t band = band_bytes(chunk, counts, element_bytes);
  if (band <= most_bytes) return {};
  return "tiles of which those with the same rows take " + std::to_string(band) +
         " bytes (at most " + std::to_string(most_bytes) +
         " are kept; store it in chunks of fewer rows)";
}

ChunkGrid::ChunkGrid(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk,
                     std::uint64_t element_bytes)
    : counts_(chunk_counts(shape, chunk)),
      chunk_bytes_(product_of(chunk, element_bytes).value_or(0)),
      row_bytes_(element_bytes) {
  const std::size_t dimensions = shape.size(), band = band_dimension(chunk);
  rows_ = dimensions == 0 ? 1 : shape[band];
  rows_of_band_ = dimensions == 0 ? 1 : chunk[band];
  TileGrid::Side side{row_bytes_, row_bytes_};
  for (std::size_t i = dimensions; i-- > band + 1;) {
    row_bytes_ *= shape[i];
    const bool is_contiguous = side.length == side.tile;
    if (!is_contiguous) row_.insert(row_.begin(), side);
    side = {shape[i] * (is_contiguous ? side.length : 1),
            chunk[i] * (is_contiguous ? side.tile : 1)};
  }
  if (side.length != side.tile) row_.insert(row_.begin(), side);
}

std::size_t ChunkGrid::piece_of(std::span<const std::uint64_t> indices) const noexcept {
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) index = index * counts_[i] + indices[i];
  return index;
}

std::vector<EncodedArray::Piece> ChunkGrid::pieces() const {
  const std::uint64_t chunks = product_of(counts_).value_or(0);
  if (chunks == 0) return {};
  const std::uint64_t tiles = TileGrid(row_).tiles(), bands = divide_up(rows_, rows_of_band_);
  std::vector<EncodedArray::Piece> pieces;
  pieces.reserve(chunks);
  for (std::uint64_t i = 0; i < chunks; ++i) {
    const std::uint64_t band = i / tiles, before = band / bands * rows_;
    const std::uint64_t last = std::min(rows_, (band % bands + 1) * rows_of_band_);
    pieces.push_back({.end = (before + last) * row_bytes_, .offset = 0, .bytes = 0});
  }
  return pieces;
}

EncodedArray::Encoding ChunkGrid::encoding(CodecChain chain, std::vector<std::byte> fill) const {
  EncodedArray::Encoding encoding{
      .chain = std::move(chain), .whole_bytes = chunk_bytes_, .fill = std::move(fill)};
  if (product_of(counts_) != 0) encoding.row = row_;
  return encoding;
}

}  // namespace ooc::detail
